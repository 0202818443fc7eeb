// The overview of a timeline: the whole of it in one row, with the part that is seen, which can be dragged.

class Overview {
  constructor(timeline) {
    Object.assign(this, { timeline, element: timeline.figure.querySelector('.overview'), drawn: '' });
    this.canvas = this.element.querySelector('canvas');
    this.view = this.element.querySelector('div');
    this.listen();
  }

  // place returns where a time is, in pixels from the left edge of the element.
  place(time) {
    const { left, span } = this.timeline;
    return left + (time - span.min) / (span.max - span.min) * this.timeline.area().width;
  }

  time(x) {
    const { left, span } = this.timeline;
    return span.min + (x - left) / this.timeline.area().width * (span.max - span.min);
  }

  // draw draws the row again if it has changed, and shows which part is seen.
  draw() {
    const { span, rows, page } = this.timeline, { width, x: left } = this.timeline.area(), height = this.element.clientHeight;
    const key = [this.timeline.colored, width, height, page.dark, span.min, span.max, rows.length, rows.map((r) => (r.remote ? r.track.whole !== null : r.rank)).join()].join(' ');
    if (key !== this.drawn) {
      this.drawn = key;
      this.paint(left, width, height);
    }
    const from = this.place(span.low), to = this.place(span.high), set = (name, value) => this.element.setAttribute(`aria-${name}`, value);
    this.view.style.left = `${from}px`;
    this.view.style.width = `${Math.max(3, to - from)}px`;
    set('valuemin', 0);
    set('valuemax', 100);
    set('valuenow', Math.round(100 * (span.low - span.min) / Math.max(1e-9, span.max - span.min - span.width)) || 0);
    set('valuetext', this.timeline.describe());
  }

  // paint draws the mean of all rows, and where the run begins and ends.
  paint(left, width, height) {
    const { span, rows, page } = this.timeline, { theme } = page, scale = devicePixelRatio || 1, c = this.canvas.getContext('2d');
    this.canvas.width = (left + width) * scale;
    this.canvas.height = height * scale;
    Object.assign(this.canvas.style, { width: `${left + width}px`, height: `${height}px` });
    c.scale(scale, scale);
    c.fillStyle = theme.outside;
    c.fillRect(left, 0, width, height);
    const rects = Array.from({ length: classes }, () => []), row = new SumRow(classes, 0, height, left, width, rects), colors = this.timeline.colors();
    new GroupTrack(rows.flatMap((r) => (r.group ? r.group.rows : [r])).map((r) => ({ track: this.timeline.trackOf(r) }))).draw(span.min, span.max, row);
    row.finish();
    rects.forEach((list, k) => {
      c.fillStyle = colors[k];
      for (let i = 0; i < list.length; i += 4) c.fillRect(list[i], list[i + 1], list[i + 2], list[i + 3]);
    });
    if (!span.home) return;
    c.fillStyle = theme.ground;
    c.globalAlpha = 0.6;
    const ends = rows.map((r) => r.track.end), last = this.place(Math.max(...ends)), first = this.place(Math.max(0, span.min));
    const [begin, end] = span.home.map((time) => this.place(time));
    c.fillRect(first, 0, begin - first, height);
    c.fillRect(end, 0, last - end, height);
    c.globalAlpha = 1;
    c.fillStyle = theme.text;
    c.font = theme.smallFont;
    c.textBaseline = 'middle';
    c.textAlign = 'center';
    for (const [name, from, to] of [['startup', first, begin], ['shutdown', end, last]]) {
      if (to - from > c.measureText(name).width + 8) c.fillText(name, (from + to) / 2, height / 2);
    }
  }

  // listen lets the part that is seen be moved, and its edges; a press elsewhere has it begin there.
  listen() {
    const { element, timeline } = this;
    let grip = null;
    const at = (e) => this.time(e.clientX - element.getBoundingClientRect().left);
    const move = (low, high) => timeline.moves.move(() => timeline.span.set(low, high));
    element.addEventListener('pointerdown', (e) => {
      if (e.button !== 0) return;
      e.preventDefault();
      element.focus({ preventScroll: true });
      element.setPointerCapture(e.pointerId);
      const { span } = timeline, x = e.clientX - element.getBoundingClientRect().left, reach = e.pointerType === 'touch' ? 14 : 6;
      const [from, to] = [this.place(span.low), this.place(span.high)], near = (edge) => Math.abs(x - edge) < reach;
      const edges = to - from > 3 * reach || x < from || x > to;
      grip = { time: at(e), low: span.low, high: span.high, what: edges && near(from) ? 'low' : edges && near(to) ? 'high' : 'all' };
      if (grip.what === 'all' && (x < from || x > to)) {
        const half = span.width / 2;
        move(grip.time - half, grip.time + half);
        Object.assign(grip, { low: span.low, high: span.high });
      }
    });
    element.addEventListener('pointermove', (e) => {
      if (!grip) return;
      const by = at(e) - grip.time, { span } = timeline;
      if (grip.what === 'all') move(Math.max(span.min, Math.min(span.max - (grip.high - grip.low), grip.low + by)), Math.min(span.max, Math.max(span.min + grip.high - grip.low, grip.high + by)));
      else if (grip.what === 'low') move(Math.max(span.min, Math.min(grip.low + by, grip.high - span.least)), grip.high);
      else move(grip.low, Math.min(span.max, Math.max(grip.high + by, grip.low + span.least)));
    });
    for (const end of ['pointerup', 'pointercancel']) element.addEventListener(end, () => { grip = null; });
    element.addEventListener('keydown', (e) => {
      const by = { ArrowLeft: -0.2, ArrowRight: 0.2 }[e.key];
      if (!by) return;
      e.preventDefault();
      timeline.moves.move(() => timeline.span.pan(by));
    });
  }
}
