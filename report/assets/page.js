// The page: what is drawn when, in which colours, and tables that can be sorted.

class Page {
  constructor(data) {
    this.data = data;
    this.figures = new Map(); // of those that were seen
    this.prepared = new Map(); // by element, of those that take time to be made
    this.unfolded = []; // details, for printing
    this.tipElement = document.getElementById('tip');
    this.read();
  }

  // read reads the colours that hold now.
  read() {
    const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(name).trim();
    const body = getComputedStyle(document.body).fontFamily;
    const dark = this.dark = matchMedia('(prefers-color-scheme: dark)').matches && document.documentElement.dataset.theme !== 'light';
    this.theme = {
      line: get('--line'), quiet: get('--quiet'), panel: get('--panel'), bar: get('--bar'), outside: get('--outside'),
      heat: get('--heat').split(/\s+/), font: body, smallFont: `11px ${body}`,
      text: get('--text'), ground: get('--ground'), accent: get('--accent'), computing: get('--computing'), waiting: get('--waiting'), transfer: get('--transfer'), other: get('--other'), selection: dark ? 'rgb(133 179 236 / 18%)' : 'rgb(47 98 168 / 14%)', hatch: hatch(get('--ground')),
      shadow: dark ? 'rgb(255 255 255 / 6%)' : 'rgb(0 0 0 / 5%)',
    };
  }

  // make returns the figure of a name, null if there is none.
  make(name, figure) {
    const d = this.data;
    switch (name) {
      case 'timeline': return new Timeline(figure, d, this);
      case 'other': return new Timeline(figure, d.other, this);
      case 'matrix': return new Matrix(figure, d, this);
      case 'functions': return new Bars(figure, this, () => {
        const of = figure.dataset.of, write = of === 'time' ? formatTime : formatCount;
        const run = d.functions.filter((f) => of !== 'time' || !f.outside), shown = [...(run.length > 0 ? run : d.functions)].sort((a, b) => b[of] - a[of]).slice(0, 12);
        return {
          lying: true, names: shown.map((f) => f.name), values: shown.map((f) => f[of]), axis: of === 'time' ? formatTime : formatBrief,
          tell: (i) => [shown[i].name, `${formatCount(shown[i].calls)} calls` + (shown[i].time !== undefined ? `, ${formatTime(shown[i].time)}` : '')],
        };
      });
      case 'sizes': return new Bars(figure, this, () => {
        const of = figure.dataset.of, write = of === 'bytes' ? formatBytes : formatBrief;
        return {
          what: 'size of the message', names: d.sizes.map((s) => formatSizes(s.low, s.high)), values: d.sizes.map((s) => s[of]), axis: write,
          tell: (i) => [d.sizes[i].low === d.sizes[i].high ? `${formatCount(d.sizes[i].low)} B` : `${formatCount(d.sizes[i].low)} to ${formatCount(d.sizes[i].high)} B`,
            `${formatCount(d.sizes[i].messages)} message${d.sizes[i].messages === 1 ? '' : 's'}, ${formatBytes(d.sizes[i].bytes)}`],
        };
      });
      case 'iterations': return new Bars(figure, this, () => {
        const t = d.iterations, of = figure.dataset.of, first = (bar) => Math.floor(bar * t.rounds / t.bars);
        const share = (i) => 100 * t.in_calls[i] / t.whole[i], percent = (v) => `${+v.toFixed(1)} %`;
        return {
          what: 'iteration of the main loop', names: t.whole.map((_, i) => formatCount(first(i))), values: of === 'share' ? t.whole.map((_, i) => share(i)) : t[of],
          axis: of === 'share' ? percent : formatTime,
          tell: (i) => [first(i + 1) > first(i) + 1 ? `Iterations ${formatCount(first(i))}–${formatCount(first(i + 1) - 1)}, on average` : `Iteration ${formatCount(first(i))}`,
            `${formatTime(t.whole[i])}, ${formatTime(t.in_calls[i])} of it in calls (${percent(share(i))}), ${formatTime(t.wait[i])} longer than on the fastest rank`],
          choose: (i) => this.goTo({ rank: t.rank, position: t.first + first(i) * t.calls, to: t.first + first(i + 1) * t.calls - 1 }),
        };
      });
      case 'load': return new Bars(figure, this, () => this.loadBars(d.load));
    }
    return null;
  }

  // loadBars are the bars of ranks: their calls, or what their time in the run is.
  loadBars(l) {
    const first = (b) => firstRank(b, l.bins, l.ranks), mean = l.bins < l.ranks ? 'on average ' : '';
    const named = (i) => first(i + 1) > first(i) + 1 ? `Ranks ${formatCount(first(i))}–${formatCount(first(i + 1) - 1)}` : `Rank ${formatCount(first(i))}`;
    const bars = { what: 'rank', names: l.values.map((_, i) => formatCount(first(i))), axis: l.timed ? formatTime : formatBrief };
    if (!l.outside) {
      const write = l.timed ? (v) => `${formatTime(v)} in calls` : (v) => `${formatCount(v)} calls`;
      return { ...bars, values: l.values, tell: (i) => [named(i), mean + write(l.values[i])] };
    }
    const parts = [{ name: 'computing', color: this.theme.computing, values: l.outside }];
    if (l.wait) parts.push({ name: 'waiting', color: this.theme.waiting, values: l.wait });
    parts.push({ name: l.wait ? 'transfer' : 'in calls', color: this.theme.transfer, values: l.values.map((v, i) => v - (l.wait ? l.wait[i] : 0)) });
    const whole = (i) => parts.reduce((sum, p) => sum + p.values[i], 0);
    return {
      ...bars, parts,
      tell: (i) => [named(i), ...parts.map((p) => `${p.name}: ${mean}${formatTime(p.values[i])} (${(100 * p.values[i] / whole(i)).toFixed(1)} %)`)],
      choose: (i) => this.goTo({ rank: first(i), position: 0 }),
    };
  }

  // show draws a figure if it was not before.
  show(element) {
    if (this.figures.has(element.dataset.figure)) return;
    const figure = this.prepared.get(element) || this.make(element.dataset.figure, element.closest('figure'));
    if (!figure) return;
    this.figures.set(element.dataset.figure, figure);
    figure.start(element);
    const drawn = () => { element.dataset.drawn = 'yes'; };
    if (figure.ready && !figure.loaded) figure.ready.then(drawn);
    else drawn();
  }

  // prepare makes timelines before they are seen, so that they can be printed at any time.
  prepare() {
    const made = [...document.querySelectorAll('[data-figure="timeline"], [data-figure="other"]')].map((element) => {
      const timeline = this.make(element.dataset.figure, element.closest('figure'));
      this.prepared.set(element, timeline);
      return timeline;
    });
    if (made.length === 2) Promise.all(made.map((t) => t.ready)).then(() => made[0].pair(made[1]));
  }

  showAll() { for (const element of document.querySelectorAll('[data-figure]')) this.show(element); }

  // unfold opens what is folded, from the top, as long as so many lines suffice.
  unfold(lines) {
    this.unfolded = [];
    for (const d of document.querySelectorAll('details')) {
      lines -= d.querySelectorAll(':scope > ul > li').length;
      if (lines < 0) break;
      if (d.open) continue;
      d.open = true;
      this.unfolded.push(d);
    }
  }

  // hint marks tables that are wider than the window.
  hint() {
    for (const wide of document.querySelectorAll('.wide')) wide.toggleAttribute('data-scrolls', wide.scrollWidth > wide.clientWidth + 1);
  }

  redraw() {
    this.hint();
    this.read();
    for (const figure of this.figures.values()) figure.resize();
  }

  // legend lists colours with what they stand for.
  legend(list, entries, timed) {
    if (!list) return;
    const item = ({ color, name, find }) => {
      const li = document.createElement('li'), i = document.createElement('i'), text = document.createElement(find ? 'button' : 'span');
      i.style.background = color;
      text.textContent = name;
      if (find) this.link(text, find);
      li.append(i, text);
      return li;
    };
    list.replaceChildren(...entries.map(item), ...(timed ? [item({ color: this.theme.outside, name: 'not in a call' })] : []));
  }

  // link makes a button that shows calls in the timeline.
  link(button, to) {
    button.type = 'button';
    button.classList.add('link');
    button.title = 'Show in the timeline';
    button.dataset.to = JSON.stringify(to);
  }

  // goTo shows calls in the timeline.
  async goTo(to, name = 'timeline') {
    const element = document.querySelector(`[data-figure="${name}"]`);
    if (!element) return;
    this.show(element);
    element.scrollIntoView({ behavior: 'instant', block: 'nearest' });
    const timeline = this.figures.get(name);
    await timeline.ready;
    const there = await timeline.show(to);
    timeline.figure.querySelector('.found').textContent = there ? '' : 'not in these ranks, or not in single calls';
    if (there) element.focus({ preventScroll: true });
  }

  // links makes buttons of what in tables has calls in the timeline.
  links() {
    if (!document.querySelector('[data-figure="timeline"]')) return;
    const numbers = new Map(this.data.functions.map((f, i) => [f.name, i]));
    for (const cell of document.querySelectorAll('[data-find]')) {
      const [, kind, value] = cell.dataset.find.match(/^(\w+)=([^]*)$/);
      const [rank, position] = value.split(',').map(Number);
      const to = { function: { function: numbers.get(value) }, signature: { signature: rank }, text: { text: value }, call: { rank, position } }[kind];
      if (to.function === undefined && kind === 'function') continue;
      const button = document.createElement('button'), inside = cell.querySelector('code') || cell.firstChild;
      inside.replaceWith(button);
      button.append(inside);
      this.link(button, to);
    }
  }

  // usage writes what a selection has: a title, and a table of functions.
  usage(out, title, list, timed, width, rough) {
    const b = document.createElement('b'), table = document.createElement('table'), about = rough ? '≈ ' : '';
    b.textContent = title;
    table.className = 'narrow';
    const row = (tag, cells) => {
      const tr = table.insertRow();
      for (const c of cells) {
        const cell = document.createElement(tag);
        cell.append(c);
        tr.append(cell);
      }
    };
    row('th', ['Function', 'Calls', ...(timed ? ['Time', 'of the selection', 'Mean'] : [])]);
    for (const u of list.slice(0, 20)) {
      const name = document.createElement(u.find ? 'button' : 'span');
      name.textContent = u.name;
      if (u.find) this.link(name, u.find);
      row('td', [name, about + formatCount(Math.round(u.calls)), ...(timed ? [about + formatTime(u.time), (100 * u.time / width).toFixed(1) + ' %', u.calls > 0 ? about + formatTime(u.time / u.calls) : '–'] : [])]);
    }
    out.replaceChildren(b, table);
    out.classList.add('sums');
  }

  // tipBox returns lines as an element: the first stands out, and the last is a call if call is set.
  tipBox(lines, call) {
    const box = document.createElement('div');
    lines.forEach((line, i) => {
      const part = document.createElement(i === 0 ? 'b' : 'div');
      if (call && i > 0 && i === lines.length - 1) part.className = 'call';
      part.textContent = line;
      box.append(part);
    });
    if (!call) box.style.cssText = 'padding: 0.45rem 0.7rem; border: 1px solid var(--line); border-radius: 5px; background: var(--ground); color: var(--text); font-size: 0.8125rem; white-space: normal; max-width: 20rem; overflow-wrap: break-word';
    return box;
  }

  // tip shows lines beside a place of the window, or takes them away.
  tip(lines, x, y, call) {
    const tip = this.tipElement;
    tip.style.visibility = lines ? 'visible' : 'hidden';
    if (!lines) return;
    const box = this.tipBox(lines, true);
    if (!call && box.lastChild) box.lastChild.className = '';
    tip.replaceChildren(box);
    const r = tip.getBoundingClientRect(), most = document.documentElement.clientWidth - r.width - 6;
    tip.style.left = `${Math.max(6, Math.min(most, x + 14))}px`;
    tip.style.top = `${y + 18 + r.height > innerHeight ? Math.max(6, y - r.height - 12) : y + 18}px`;
  }

  start() {
    this.prepare();
    const seen = new IntersectionObserver((entries) => {
      for (const e of entries) if (e.isIntersecting) {
        seen.unobserve(e.target);
        this.show(e.target);
      }
    }, { rootMargin: '300px' });
    for (const element of document.querySelectorAll('[data-figure]')) seen.observe(element);
    for (const button of document.querySelectorAll('button[data-move]')) {
      button.addEventListener('click', () => {
        const element = button.closest('figure').querySelector('[data-figure]');
        this.show(element);
        const { moves } = this.figures.get(element.dataset.figure);
        ({ in: () => moves.zoom(0.4), out: () => moves.zoom(2.5), all: () => moves.all(), run: () => moves.reset() })[button.dataset.move]();
      });
    }
    let due = 0;
    addEventListener('resize', () => {
      clearTimeout(due);
      due = setTimeout(() => this.redraw(), 80);
    });
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.redraw());
    addEventListener('beforeprint', () => {
      document.documentElement.dataset.theme = 'light';
      this.unfold(400);
      this.showAll();
      this.redraw();
    });
    addEventListener('afterprint', () => {
      delete document.documentElement.dataset.theme;
      for (const d of this.unfolded) d.open = false;
      this.redraw();
    });
    this.links();
    document.addEventListener('click', (e) => {
      const button = e.target.closest('button[data-to]');
      if (button) this.goTo(JSON.parse(button.dataset.to), button.closest('#other') ? 'other' : 'timeline');
    });
    document.addEventListener('toggle', (e) => {
      if (e.target.open && e.target.dataset.same) repeat(e.target);
    }, true);
    for (const table of document.querySelectorAll('table[data-sortable]')) {
      sortable(table);
      foldable(table, 15);
    }
    this.hint();
  }
}

// repeat has details show the lines of others that are the same.
function repeat(details) {
  const list = document.getElementById(details.dataset.same).querySelector(':scope > ul').cloneNode(true);
  for (const inner of list.querySelectorAll('[id]')) {
    inner.dataset.same = inner.id;
    inner.removeAttribute('id');
    inner.open = false;
  }
  delete details.dataset.same;
  details.querySelector('a').replaceWith(list);
}

// hatch returns a picture of lines that stand for an estimate.
function hatch(color) {
  const canvas = document.createElement('canvas'), size = 8;
  canvas.width = canvas.height = size;
  const c = canvas.getContext('2d');
  c.strokeStyle = color;
  c.globalAlpha = 0.55;
  c.lineWidth = 2;
  c.beginPath();
  for (const x of [-size, 0, size]) {
    c.moveTo(x, size);
    c.lineTo(x + size, 0);
  }
  c.stroke();
  return canvas;
}

// sortable lets the heads of a table sort its rows, by data-value of a cell, a
// number, or its text.
function sortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const numbers = table.tBodies[0].rows.length > 0 && table.tBodies[0].rows[0].cells[column].dataset.value !== undefined;
      const was = head.getAttribute('aria-sort');
      const down = was ? was === 'ascending' : numbers;
      heads.forEach((h) => h.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const value = (row) => (numbers ? Number(row.cells[column].dataset.value) : row.cells[column].textContent);
      const compare = (a, b) => (numbers ? value(a) - value(b) : value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0);
      table.tBodies[0].append(...[...table.tBodies[0].rows].sort((a, b) => (down ? -compare(a, b) : compare(a, b))));
    });
  });
}

// foldable shows only the first rows of a table that has many more, and a button for
// the others.
function foldable(table, most) {
  const n = table.tBodies[0].rows.length;
  if (n <= most + 5) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'more';
  const say = () => {
    const folded = table.classList.contains('folded');
    button.textContent = folded ? `Show all ${formatCount(n)}` : `Show the first ${most}`;
    button.setAttribute('aria-expanded', String(!folded));
  };
  button.addEventListener('click', () => {
    table.classList.toggle('folded');
    say();
  });
  table.classList.add('folded');
  say();
  table.parentElement.append(button);
}

document.documentElement.classList.remove('nojs');
const report = new Page(JSON.parse(document.getElementById('data').textContent));
report.start();
