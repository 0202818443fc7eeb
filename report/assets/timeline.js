// The timeline of some ranks, drawn from their grammars.

// decodeSteps returns the sums of a list of differences.
function decodeSteps(steps) {
  let sum = 0;
  return (steps || []).map((step) => (sum += step));
}

class Timeline {
  constructor(figure, data, page) {
    const { timeline: t, functions } = data;
    Object.assign(this, { figure, page, data: t, functions, timed: t.timed, row: 0 });
    this.classes = page.classes;
    const classOf = functions.map((_, i) => Math.min(i, this.classes - 1)).concat(this.classes - 1);
    const grammars = t.grammars.map((rules) => new Grammar(rules));
    const programs = t.programs.map((p) => new Program(grammars[p.grammar], { ...p, classOf, classes: this.classes }));
    this.ranks = t.ranks.map((r) => ({
      rank: r.rank, thread: r.thread, texts: r.texts, program: programs[r.program],
      clock: new Clock(programs[r.program], decodeSteps(r.edges), decodeSteps(r.times)),
    }));
    let low = Infinity, high = -Infinity;
    for (const r of this.ranks) {
      low = Math.min(low, r.clock.start);
      high = Math.max(high, r.clock.end);
    }
    this.origin = this.timed ? low : 0; // times are told from here
    this.span = new Span(low, Math.max(high, low + 1), Math.min(this.timed ? 20 : 4, high - low));
    this.used = [...new Set(programs.flatMap((p) => p.functions.map((f) => classOf[f])))].sort((a, b) => a - b);
  }

  // start makes the chart when it is to be seen for the first time.
  start(element) {
    const phone = element.clientWidth < 600;
    this.left = phone ? 44 : 72;
    this.right = 8;
    this.top = 4;
    this.bottom = 30;
    this.height = Math.max(6, Math.min(26, Math.floor(520 / this.ranks.length)));
    element.style.height = `${this.top + this.bottom + this.height * this.ranks.length}px`;
    this.chart = echarts.init(element, null, { renderer: 'canvas' });
    this.element = element;
    this.moves = navigate(element, { x: this.span, y: null, area: () => this.area(), changed: () => this.draw() });
    element.addEventListener('pointermove', (e) => this.hover(e));
    element.addEventListener('pointerdown', (e) => this.hover(e, true));
    element.addEventListener('pointerleave', () => this.page.tip(null));
    element.addEventListener('keydown', (e) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[e.key];
      if (!step) return;
      e.preventDefault();
      this.row = Math.max(0, Math.min(this.ranks.length - 1, this.row + step));
      this.say(this.middle());
    });
    this.page.legend(this.figure.querySelector('.legend'), this.used.map((k) =>
      [k, k < this.classes - 1 || this.functions.length === this.classes ? this.functions[k].name : 'other functions']), this.timed);
    this.say(null);
    this.draw();
  }

  area() {
    return { x: this.left, y: this.top, width: Math.max(1, this.element.clientWidth - this.left - this.right), height: this.height * this.ranks.length };
  }

  // rows returns the rectangles of each class and the rows they are in.
  rows(width) {
    const rects = Array.from({ length: this.classes }, () => []);
    const pad = this.height > 12 ? 2 : this.height > 7 ? 1 : 0;
    const rows = this.ranks.map((r, i) => {
      const row = new Row(this.classes, this.top + i * this.height + pad, this.height - 2 * pad, this.left, width, rects);
      r.clock.draw(this.span.low, this.span.high, this.left, width / this.span.width, row);
      row.finish();
      return row;
    });
    return { rects, rows };
  }

  draw() {
    const { colors, theme } = this.page, area = this.area(), { rects, rows } = this.rows(area.width);
    this.drawn = rects;
    const label = this.timed ? axisTime(this.span.width) : (v) => formatBrief(v);
    const base = { x: this.left, width: area.width };
    const shape = (params) => {
      const k = params.dataIndex;
      if (k === 0) {
        return { type: 'group', children: rows.map((row, i) => ({
          type: 'rect', silent: true, shape: { ...base, y: row.top, height: row.height, stamp: i },
          style: { fill: theme.outside } })) };
      }
      if (k <= this.classes) {
        return { type: 'reprise-rects', silent: true, shape: { rects: new Float64Array(rects[k - 1]) }, style: { fill: colors[k - 1] } };
      }
      return { type: 'group', children: rows.flatMap((row, i) => row.height < 14 ? [] : row.labels.map((l) => ({
        type: 'text', silent: true, style: {
          text: this.name(this.ranks[i], l.terminal), x: l.x + 5, y: row.top + row.height / 2,
          width: l.width - 10, overflow: 'truncate', ellipsis: '…', fill: theme.onClass, font: theme.smallFont,
          verticalAlign: 'middle', align: 'left' } }))) };
    };
    this.chart.setOption({
      animation: false,
      textStyle: { fontFamily: theme.font },
      aria: { enabled: false },
      grid: { left: this.left, right: this.right, top: this.top, bottom: this.bottom },
      xAxis: {
        type: 'value', min: this.span.low - this.origin, max: this.span.high - this.origin,
        splitNumber: Math.max(3, Math.floor(area.width / 110)),
        axisLine: { show: true, lineStyle: { color: theme.line } }, axisTick: { show: true, lineStyle: { color: theme.line } },
        splitLine: { show: false },
        axisLabel: { color: theme.quiet, formatter: label, hideOverlap: true, showMinLabel: false, showMaxLabel: false },
      },
      yAxis: {
        type: 'category', inverse: true, data: this.ranks.map((r) => r.rank + (r.thread === undefined ? '' : ` t${r.thread}`)),
        axisLine: { show: false }, axisTick: { show: false },
        axisLabel: { color: theme.quiet, interval: this.height >= 12 ? 0 : 'auto', formatter: (v) => (this.left > 60 ? 'rank ' : '') + v },
      },
      series: [{
        type: 'custom', renderItem: shape, clip: true, silent: true, progressive: 0, encode: { x: 0, y: 1 },
        data: Array.from({ length: this.classes + 2 }, () => [this.span.low - this.origin, 0]),
      }],
    }, { notMerge: true });
    const seen = this.figure.querySelector('.seen');
    if (seen) seen.textContent = this.describe();
  }

  describe() {
    const { span } = this;
    if (!this.timed) {
      return `Calls ${formatCount(Math.floor(span.low))} to ${formatCount(Math.ceil(span.high))} of ${formatCount(span.max)}`;
    }
    const text = span.whole ? 'All of ' : `${formatTime(span.width)} from ${timeAt(span.low - this.origin, span.width / 20)} on, of `;
    return text + formatTime(span.max - span.min);
  }

  // callAt returns what a rank does at a time, as people read it.
  callAt(row, time) {
    const r = this.ranks[row];
    if (!r || time < r.clock.start) return null;
    const call = r.clock.call(time);
    if (!call) return null;
    const running = time >= call.start && time <= call.start + call.duration;
    return { row, running, text: this.text(r, call.terminal), name: this.name(r, call.terminal), ...call };
  }

  middle() { return this.callAt(this.row, (this.span.low + this.span.high) / 2); }

  name(r, terminal) {
    const f = this.functions[r.program.functions[terminal]];
    return f ? f.name : this.text(r, terminal);
  }

  text(r, terminal) {
    const text = this.data.texts[r.texts[terminal]];
    if (text !== undefined) return text;
    const f = this.functions[r.program.functions[terminal]];
    return f ? `${f.name}(…)` : 'a call that this page leaves out';
  }

  // lines returns what is told of a call: texts, and the call last.
  lines(call) {
    const about = this.timed ? 'about ' : '';
    const { rank, thread, program } = this.ranks[call.row];
    const who = `Rank ${formatCount(rank)}` + (thread === undefined ? '' : `, thread ${thread}`);
    const what = who + (call.partial ? '' : `, position ${formatCount(call.position)}, of ${formatCount(program.calls)} calls`);
    if (call.partial) return [what, `takes more than ${formatTime(call.duration)}, with many calls in it`, call.text];
    const times = this.timed
      ? [`starts at ${about}${timeAt(call.start - this.origin, this.span.width / 500)}, takes ${about}${formatTime(call.duration)}` + (call.running ? '' : '; not in a call before')]
      : [];
    return [what, ...times, call.text];
  }

  hover(e, press) {
    if (e.pointerType === 'touch' && !press) return;
    const box = this.element.getBoundingClientRect(), area = this.area();
    const x = e.clientX - box.left - area.x, row = Math.floor((e.clientY - box.top - area.y) / this.height);
    const inside = x >= 0 && x <= area.width && row >= 0 && row < this.ranks.length;
    const call = inside ? this.callAt(row, this.span.low + (x / area.width) * this.span.width) : null;
    if (inside && press) this.row = row;
    this.page.tip(call && e.pointerType !== 'touch' ? this.lines(call) : null, e.clientX, e.clientY, true);
    if (call) this.say(call);
  }

  say(call) {
    const out = this.figure.querySelector('.readout');
    if (!out) return;
    out.replaceChildren();
    const lines = call ? this.lines(call) : [out.dataset.hint];
    lines.forEach((line, i) => {
      const part = document.createElement(i === 0 && call ? 'b' : i === lines.length - 1 && call ? 'span' : 'span');
      if (call && i === lines.length - 1) part.className = 'call';
      part.textContent = i > 0 && i < lines.length - 1 ? ` ${line}` : line;
      out.append(part);
    });
  }

  resize() {
    this.chart.resize();
    this.draw();
  }
}

// Many rectangles of one colour as one shape.
echarts.graphic.registerShape('reprise-rects', echarts.graphic.extendShape({
  shape: { rects: [] },
  buildPath(path, shape) {
    const r = shape.rects;
    for (let i = 0; i < r.length; i += 4) path.rect(r[i], r[i + 1], r[i + 2], r[i + 3]);
  },
}));
