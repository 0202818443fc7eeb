// Zoom and pan, by wheel, by hand, by two fingers and by keys.

// A Span is what is seen of an axis from min to max: no less than least, and than
// what the numbers of the axis are exact enough for. If it has a home, that is what is seen at first.
class Span {
  constructor(min, max, least) {
    const exact = 2 ** -40 * Math.max(Math.abs(min), Math.abs(max));
    Object.assign(this, { min, max, least: Math.max(least, exact), low: min, high: max });
  }

  get width() { return this.high - this.low; }
  get whole() { return this.low <= this.min && this.high >= this.max; }

  set(low, high) {
    let width = Math.min(Math.max(high - low, this.least), this.max - this.min);
    if (!(width > 0)) width = this.max - this.min;
    low += (high - low - width) / 2;
    this.low = Math.max(this.min, Math.min(low, this.max - width));
    this.high = this.low + width;
  }

  // zoom shows factor times as much as before; what is at a share of the width
  // stays where it is.
  zoom(factor, share) {
    const width = Math.min(Math.max(this.width * factor, this.least), this.max - this.min);
    const low = this.low + share * (this.width - width);
    this.set(low, low + width);
  }

  pan(share) { this.set(this.low + share * this.width, this.high + share * this.width); }
  reset() { this.set(...(this.home || [this.min, this.max])); }
  all() { this.set(this.min, this.max); }
}

// navigate lets a person move through the spans of a chart: x is a Span, y one or
// null, area returns the rectangle of the element in which they are drawn, and
// changed is called, at most once a frame, after they moved. If there is select, a mouse
// that is dragged selects, with the shift key it moves, and select is called with the
// shares of width and height where that began and where it is.
function navigate(element, { x, y, area, changed, select }) {
  let due = 0;
  const move = (how) => {
    how();
    element.classList.toggle('zoomed', !x.whole || (y !== null && !y.whole));
    if (!due) due = requestAnimationFrame(() => { due = 0; changed(); });
  };
  const both = (how) => { how(x, 0); if (y) how(y, 1); };
  const place = (e) => {
    const box = element.getBoundingClientRect(), a = area();
    return [(e.clientX - box.left - a.x) / a.width, (e.clientY - box.top - a.y) / a.height];
  };
  const zoom = (factor, at) => move(() => both((span, i) => span.zoom(factor, at[i])));

  // The wheel scrolls the page until the chart has been clicked at.
  element.addEventListener('wheel', (e) => {
    if (!(e.ctrlKey || e.metaKey || document.activeElement === element)) return;
    e.preventDefault();
    const unit = e.deltaMode === 1 ? 16 : 1;
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) move(() => x.pan(e.deltaX * unit / area().width));
    else zoom(Math.exp(Math.max(-1, Math.min(1, e.deltaY * unit * (e.ctrlKey ? 0.01 : 0.002)))), place(e));
  }, { passive: false });
  element.addEventListener('dblclick', (e) => zoom(e.shiftKey ? 2.5 : 0.4, place(e)));

  const fingers = new Map();
  let began = null, moved = false; // where a selection did; whether the last press was more than a click
  const spread = () => {
    const [a, b] = [...fingers.values()];
    return [[(a[0] + b[0]) / 2, (a[1] + b[1]) / 2], Math.hypot((a[0] - b[0]) * area().width, (a[1] - b[1]) * area().height)];
  };
  element.addEventListener('pointerdown', (e) => {
    moved = false;
    if (e.button !== 0) return;
    fingers.set(e.pointerId, place(e));
    began = select && e.pointerType === 'mouse' && !e.shiftKey ? place(e) : null;
  });
  element.addEventListener('pointermove', (e) => {
    const last = fingers.get(e.pointerId);
    if (!last) return;
    const now = place(e);
    if (!moved && Math.hypot((now[0] - last[0]) * area().width, (now[1] - last[1]) * area().height) < 4) return;
    moved = true;
    if (!element.hasPointerCapture(e.pointerId)) element.setPointerCapture(e.pointerId);
    if (began) {
      select(began, now);
      return;
    }
    element.classList.add('moving');
    if (fingers.size === 1) {
      fingers.set(e.pointerId, now);
      move(() => both((span, i) => span.pan(last[i] - now[i])));
    } else if (fingers.size === 2) {
      const [, before] = spread();
      fingers.set(e.pointerId, now);
      const [middle, after] = spread();
      if (before > 0 && after > 0) zoom(before / after, middle);
    }
  });
  const lift = (e) => {
    fingers.delete(e.pointerId);
    began = null;
    element.classList.toggle('moving', fingers.size > 0);
  };
  element.addEventListener('pointerup', lift);
  element.addEventListener('pointercancel', lift);

  const steps = {
    '+': () => both((span) => span.zoom(0.5, 0.5)), '=': () => both((span) => span.zoom(0.5, 0.5)),
    '-': () => both((span) => span.zoom(2, 0.5)), '0': () => both((span) => span.reset()),
    ArrowLeft: () => x.pan(-0.2), ArrowRight: () => x.pan(0.2),
    w: () => x.zoom(0.5, 0.5), s: () => x.zoom(2, 0.5), a: () => x.pan(-0.2), d: () => x.pan(0.2),
    Home: () => x.set(x.min, x.min + x.width), End: () => x.set(x.max - x.width, x.max),
  };
  if (y) Object.assign(steps, { ArrowUp: () => y.pan(-0.2), ArrowDown: () => y.pan(0.2) });
  element.addEventListener('keydown', (e) => {
    if (e.altKey || e.ctrlKey || e.metaKey || !steps[e.key]) return;
    e.preventDefault();
    move(steps[e.key]);
  });
  return { move, moved: () => moved, zoom: (factor) => zoom(factor, [0.5, 0.5]), reset: () => move(() => both((span) => span.reset())), all: () => move(() => both((span) => span.all())) };
}
