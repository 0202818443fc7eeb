// The communication matrix: how much goes from whom to whom, in messages and in collective
// operations.

// firstRank returns the first rank of a bin, of so many bins of ranks.
function firstRank(bin, bins, ranks) { return Math.ceil(bin * ranks / bins); }

// ranksIn returns how many ranks from first up to end there are in ranges.
function ranksIn(ranges, first, end) {
  let n = 0;
  for (let i = 0; i < ranges.length; i += 2) n += Math.max(0, Math.min(ranges[i + 1] + 1, end) - Math.max(ranges[i], first));
  return n;
}

class Matrix {
  constructor(figure, data, page) {
    const m = data.matrix;
    Object.assign(this, { figure, page, nodes: data.nodes || [], ranks: m.ranks, bins: m.bins, of: m.bytes ? 'bytes' : 'messages', kind: !m.exchanged ? 'messages' : m.messages ? 'both' : 'collective' });
    this.cells = []; // [bin of source, bin of destination, bytes, messages, bytes and blocks of collective operations]
    const width = m.exchanged ? 6 : 4, n = m.cells.length / width;
    for (let i = 0, row = 0, column = 0; i < n; i++) {
      const at = width * i, step = m.cells[at];
      row += step;
      column = (step > 0 || i === 0 ? 0 : column) + m.cells[at + 1];
      this.cells.push([row, column, m.cells[at + 2], m.cells[at + 3], m.exchanged ? m.cells[at + 4] : 0, m.exchanged ? m.cells[at + 5] : 0]);
    }
    this.uniform = m.uniform || []; // what is the same for many pairs of ranks, in collective operations
    this.x = new Span(0, m.bins, Math.min(4, m.bins)); // destinations
    this.y = new Span(0, m.bins, Math.min(4, m.bins)); // sources
  }

  start(element) {
    const width = element.clientWidth, phone = width < 600;
    this.left = phone ? 52 : 74;
    this.right = phone ? 6 : 84;
    this.top = 8;
    this.bottom = phone ? 96 : 52;
    this.phone = phone;
    element.style.height = `${Math.min(width - this.left - this.right, 560) + this.top + this.bottom}px`;
    this.element = element;
    this.chart = echarts.init(element, null, { renderer: 'canvas' });
    this.moves = navigate(element, { x: this.x, y: this.y, area: () => this.area(), changed: () => this.draw() });
    element.addEventListener('pointermove', (e) => this.hover(e));
    element.addEventListener('pointerdown', (e) => this.hover(e));
    element.addEventListener('pointerleave', () => this.page.tip(null));
    for (const button of this.figure.querySelectorAll('[data-of]')) {
      button.addEventListener('click', () => {
        this.of = button.dataset.of;
        this.draw();
      });
    }
    for (const button of this.figure.querySelectorAll('[data-kind]')) {
      button.addEventListener('click', () => {
        this.kind = button.dataset.kind;
        this.draw();
      });
    }
    this.draw();
  }

  area() {
    return { x: this.left, y: this.top, width: Math.max(1, this.element.clientWidth - this.left - this.right), height: this.element.clientHeight - this.top - this.bottom };
  }

  // grid returns what is seen in cells, of as many bins each as it takes for a cell
  // to be seen: where they begin, how wide they are, and the sums by their key.
  grid() {
    const most = Math.max(8, Math.min(128, Math.floor(this.area().width / 4)));
    let size = 1;
    while ((this.x.width + 2) / size > most) size *= 2;
    const first = (span) => Math.floor(span.low / size), last = (span) => Math.ceil(span.high / size - 1e-9);
    const g = { size, x: first(this.x), y: first(this.y), columns: last(this.x) - first(this.x), rows: last(this.y) - first(this.y), sums: new Map() };
    for (const [row, column, bytes, messages, exchanged, blocks] of this.cells) {
      const i = Math.floor(row / size) - g.y, j = Math.floor(column / size) - g.x;
      if (i < 0 || j < 0 || i >= g.rows || j >= g.columns) continue;
      const sum = g.sums.get(i * g.columns + j);
      if (sum) {
        sum.bytes += bytes;
        sum.messages += messages;
        sum.exchanged += exchanged;
        sum.blocks += blocks;
      } else {
        g.sums.set(i * g.columns + j, { bytes, messages, exchanged, blocks });
      }
    }
    for (const u of this.uniform) this.addUniform(g, u);
    return g;
  }

  // addUniform adds to a grid what each rank of one set gives each other of another.
  addUniform(g, u) {
    const size = g.size, ranks = (cell) => [this.first(cell * size), this.first((cell + 1) * size)];
    const columns = Array.from({ length: g.columns }, (_, j) => ranksIn(u.to, ...ranks(g.x + j)));
    for (let i = 0; i < g.rows; i++) {
      const row = g.y + i, from = ranksIn(u.from, ...ranks(row));
      if (from === 0) continue;
      for (let j = 0; j < g.columns; j++) {
        const column = g.x + j;
        let pairs = from * columns[j];
        if (row === column) pairs = this.pairsWithin(u, ...ranks(row));
        else if (u.higher && row > column) pairs = 0;
        if (pairs === 0) continue;
        const key = i * g.columns + j;
        if (!g.sums.has(key)) g.sums.set(key, { bytes: 0, messages: 0, exchanged: 0, blocks: 0 });
        const sum = g.sums.get(key);
        sum.exchanged += pairs * u.bytes;
        sum.blocks += pairs * u.blocks;
      }
    }
  }

  // pairsWithin returns how many pairs of uniform ones there are of ranks from first up to end.
  // It costs as much as there are ranges, in steps of ranks that are alike.
  pairsWithin({ from, to, higher }, first, end) {
    let sources = 0, destinations = 0, both = 0, above = 0; // above: pairs to higher ranks
    for (let i = 0, j = 0, rank = first; rank < end;) {
      while (from[i + 1] < rank) i += 2;
      while (to[j + 1] < rank) j += 2;
      const isSource = from[i] <= rank, isDestination = to[j] <= rank; // false after the last range
      const next = Math.min(end, (isSource ? from[i + 1] + 1 : from[i]) ?? end, (isDestination ? to[j + 1] + 1 : to[j]) ?? end);
      const n = next - rank;
      if (isDestination) {
        above += sources * n;
        destinations += n;
      }
      if (isSource) sources += n;
      if (isSource && isDestination) {
        above += n * (n - 1) / 2;
        both += n;
      }
      rank = next;
    }
    return higher ? above : sources * destinations - both;
  }

  // nodeOf returns the number of the node of a rank, −1 if that is not known.
  nodeOf(rank) { return this.nodes.findIndex((ranges) => ranksIn(ranges, rank, rank + 1) > 0); }

  // borders returns the bins before which another node begins, at most so many.
  borders() {
    const list = [];
    for (let bin = 1, last = this.nodeOf(this.first(0)); bin < this.bins && this.nodes.length > 0; bin++) {
      const node = this.nodeOf(this.first(bin));
      if (node !== last) list.push(bin);
      last = node;
    }
    return list.length <= 64 ? list : [];
  }

  // withinNodes returns how much of what is counted stays within nodes, and all of it; null if that is not known.
  withinNodes() {
    if (this.nodes.length === 0 || this.bins < this.ranks) return null;
    let within = 0, all = 0;
    const nodes = Array.from({ length: this.ranks }, (_, rank) => this.nodeOf(rank));
    for (const [source, destination, bytes, messages, exchanged, blocks] of this.cells) {
      const v = this.value({ bytes, messages, exchanged, blocks });
      all += v;
      if (nodes[source] === nodes[destination]) within += v;
    }
    for (const u of this.uniform) {
      const v = this.value({ bytes: 0, messages: 0, exchanged: u.bytes, blocks: u.blocks });
      all += v * this.pairsWithin(u, 0, this.ranks);
      for (const ranges of this.nodes) {
        for (let i = 0; i < ranges.length; i += 2) {
          within += v * this.pairsWithin(u, ranges[i], ranges[i + 1] + 1);
          for (let j = 0; j < ranges.length; j += 2) {
            if (i !== j && (!u.higher || j > i)) within += v * ranksIn(u.from, ranges[i], ranges[i + 1] + 1) * ranksIn(u.to, ranges[j], ranges[j + 1] + 1);
          }
        }
      }
    }
    return { within, all };
  }

  // nodeLines returns lines where nodes meet.
  nodeLines() {
    const a = this.area(), g = this.seen, style = { stroke: this.page.theme.text, lineWidth: 1, lineDash: [3, 3] }, out = [];
    for (const bin of this.borders()) {
      const x = a.x + (bin / g.size - g.x) / g.columns * a.width, y = a.y + (bin / g.size - g.y) / g.rows * a.height;
      if (x > a.x && x < a.x + a.width) out.push({ type: 'line', silent: true, shape: { x1: x, y1: a.y, x2: x, y2: a.y + a.height }, style });
      if (y > a.y && y < a.y + a.height) out.push({ type: 'line', silent: true, shape: { x1: a.x, y1: y, x2: a.x + a.width, y2: y }, style });
    }
    return out;
  }

  // value returns what the colour of a cell stands for.
  value(sum) {
    const [message, collective] = this.of === 'bytes' ? [sum.bytes, sum.exchanged] : [sum.messages, sum.blocks];
    return (this.kind === 'collective' ? 0 : message) + (this.kind === 'messages' ? 0 : collective);
  }

  // first returns the first rank of a bin, or the number of ranks.
  first(bin) { return Math.min(this.ranks, firstRank(bin, this.bins, this.ranks)); }

  // named returns the ranks of a cell as people write them.
  named(cell) {
    const first = this.first(cell * this.seen.size), last = this.first((cell + 1) * this.seen.size) - 1;
    return last > first ? `${formatCount(first)}–${formatCount(last)}` : formatCount(first);
  }

  // nodesOf returns the node of the ranks of a cell in words, nothing if they are on several.
  nodesOf(cell) {
    const nodes = new Set(Array.from({ length: this.first((cell + 1) * this.seen.size) - this.first(cell * this.seen.size) }, (_, i) => this.nodeOf(this.first(cell * this.seen.size) + i)));
    return this.nodes.length > 0 && nodes.size === 1 && !nodes.has(-1) ? ` (node ${[...nodes][0]})` : '';
  }

  draw() {
    const { theme } = this.page, g = (this.seen = this.grid());
    const points = [], write = this.of === 'bytes' ? formatBytes : formatBrief;
    let low = Infinity, high = -Infinity;
    for (const [key, sum] of g.sums) {
      const v = this.value(sum);
      if (!(v > 0)) continue;
      const log = Math.log10(v);
      low = Math.min(low, log);
      high = Math.max(high, log);
      points.push([key % g.columns, Math.floor(key / g.columns), log]);
    }
    const one = points.length > 0 && !(high > low); // which takes no scale
    if (!(high > low)) low = (high = points.length ? high : 0) - 1;
    const labels = (from, n) => Array.from({ length: n }, (_, i) => formatCount(this.first((from + i) * g.size)));
    const every = (n, room) => Math.max(0, Math.ceil(n / Math.max(1, Math.floor(room))) - 1);
    const axis = (data, name, gap, room) => ({
      type: 'category', data, name, nameLocation: 'middle', nameGap: gap,
      nameTextStyle: { color: theme.quiet, fontSize: 12 },
      axisLine: { lineStyle: { color: theme.line } }, axisTick: { show: false }, splitLine: { show: false },
      axisLabel: { color: theme.quiet, hideOverlap: true, interval: every(data.length, room), fontSize: 11 },
    });
    this.chart.setOption({
      animation: false,
      textStyle: { fontFamily: theme.font },
      grid: { left: this.left, right: this.right, top: this.top, bottom: this.bottom, outerBoundsMode: 'none', show: true, borderColor: theme.line, borderWidth: 1, backgroundColor: theme.panel },
      xAxis: axis(labels(g.x, g.columns), 'destination (rank)', 28, this.area().width / 44),
      yAxis: { ...axis(labels(g.y, g.rows), 'source (rank)', this.phone ? 36 : 52, this.area().height / 22), inverse: true },
      visualMap: {
        type: 'continuous', seriesIndex: 0, dimension: 2, show: points.length > 0 && !one, min: low, max: high, calculable: false, hoverLink: false, precision: 2,
        ...(this.phone ? { orient: 'horizontal', left: 'center', bottom: 0, itemWidth: 12, itemHeight: 150 } : { orient: 'vertical', right: 0, top: 'middle', itemWidth: 12, itemHeight: 160 }),
        text: [points.length ? write(10 ** high) : '', points.length ? write(10 ** low) : ''], textStyle: { color: theme.quiet, fontSize: 12 },
        inRange: { color: theme.heat },
      },
      series: [{ // not a heat map, which is drawn on a canvas of its own, which is not printed
        type: 'custom', data: points, silent: true, progressive: 0, encode: { x: 0, y: 1 },
        renderItem: (_, api) => {
          const [x, y] = api.coord([api.value(0), api.value(1)]), [width, height] = api.size([1, 1]);
          const left = Math.floor(x - width / 2), top = Math.floor(y - height / 2);
          return { type: 'rect', silent: true, shape: { x: left, y: top, width: Math.ceil(x + width / 2) - left, height: Math.ceil(y + height / 2) - top }, style: { fill: api.visual('color') } };
        },
      }, ...(this.nodes.length > 0 ? [{
        type: 'custom', data: [[0, 0]], silent: true, encode: { x: 0, y: 1 },
        renderItem: () => ({ type: 'group', $mergeChildren: false, children: this.nodeLines() }),
      }] : [])],
    }, { notMerge: true });
    for (const button of this.figure.querySelectorAll('[data-of]')) button.setAttribute('aria-pressed', button.dataset.of === this.of);
    for (const button of this.figure.querySelectorAll('[data-kind]')) button.setAttribute('aria-pressed', button.dataset.kind === this.kind);
    const seen = this.figure.querySelector('.seen');
    if (seen) {
      const cell = Math.ceil(g.size * this.ranks / this.bins), nodes = this.withinNodes();
      seen.textContent = `Sources ${this.range(this.y)}, destinations ${this.range(this.x)}` + (cell > 1 ? `; a cell is ${formatCount(cell)} × ${formatCount(cell)} ranks` : '') + (one ? `; all cells that are coloured have ${write(10 ** high)}` : '') + (nodes && nodes.all > 0 ? `; ${(100 * nodes.within / nodes.all).toFixed(1)} % within nodes` : '');
    }
  }

  range(span) {
    return `${formatCount(this.first(Math.floor(span.low)))} to ${formatCount(this.first(Math.ceil(span.high)) - 1)}`;
  }

  // cell returns what is at a place of the chart, in pixels.
  cell(px, py) {
    const a = this.area(), g = this.seen;
    const j = Math.floor(((px - a.x) / a.width) * g.columns), i = Math.floor(((py - a.y) / a.height) * g.rows);
    if (i < 0 || j < 0 || i >= g.rows || j >= g.columns) return null;
    const sum = g.sums.get(i * g.columns + j) || { bytes: 0, messages: 0, exchanged: 0, blocks: 0 };
    return { source: this.named(g.y + i) + this.nodesOf(g.y + i), destination: this.named(g.x + j) + this.nodesOf(g.x + j), ...sum };
  }

  hover(e) {
    const box = this.element.getBoundingClientRect();
    const c = this.cell(e.clientX - box.left, e.clientY - box.top);
    const told = (bytes, n, thing) => n > 0 ? `${formatBytes(bytes)} in ${formatCount(n)} ${thing}${n === 1 ? '' : 's'}` : `no ${thing}s`;
    this.page.tip(c && [`${c.source} → ${c.destination}`, told(c.bytes, c.messages, 'message'), told(c.exchanged, c.blocks, 'collective block')], e.clientX, e.clientY);
  }

  resize() {
    this.chart.resize();
    this.draw();
  }
}
