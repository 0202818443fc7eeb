// The timeline of some ranks.

// decodeSteps returns the sums of a list of differences.
function decodeSteps(steps) {
  let sum = 0;
  return (steps || []).map((step) => (sum += step));
}

class Timeline {
  constructor(figure, data, page) {
    const { timeline: t, functions } = data;
    Object.assign(this, { figure, page, data: t, functions, nodes: data.nodes || [], timed: t.timed, error: t.error || 0, row: 0, chosen: null, pointer: null, colored: 'function' });
    this.classOf = functions.map((_, i) => Math.min(i, classes - 1)).concat(classes - 1);
    const grammars = t.grammars.map((rules) => new Grammar(rules));
    this.programs = t.programs.map((p) => new Program(grammars[p.grammar], { ...p, classOf: this.classOf, classes }));
    this.all = [];
    this.opening = new Map(); // by rank, what will be its rows
    this.ranked = []; // of all, those that were chosen, in order
    this.rows = []; // those, or of groups that are folded one each
    this.groups = new Groups(this);
    this.span = new Span(0, Math.max(1, t.span || 1), 1);
    this.ready = this.load();
  }

  // load makes rows of what the page has of each rank.
  async load() {
    for (const [i, r] of this.data.ranks.entries()) {
      const rows = await this.rowsOf(r), waits = r.waits && Waits.unpack(await inflate(r.waits));
      for (const row of rows) this.all.push(Object.assign(row, { of: i }, waits ? { waits: new Waits(waits, row.track) } : {}));
    }
    if (this.data.arrows) this.arrows = new Arrows(await inflate(this.data.arrows));
    this.ranked = [...this.all];
    this.rows = [...this.all];
    let low = Infinity, high = -Infinity, least = Infinity;
    for (const { track } of this.all) {
      low = Math.min(low, track.start);
      high = Math.max(high, track.end);
      least = Math.min(least, this.timed ? Math.max(20, 4 * track.grain) : 4);
    }
    if (!(high > low)) [low, high] = [low === Infinity ? 0 : low, (low === Infinity ? 0 : low) + 1];
    if (this.timed) low = Math.min(0, low);
    Object.assign(this.span, new Span(low, high, Math.min(least, high - low)), { home: this.data.run });
    this.span.reset();
    if (this.data.view) this.span.set(...this.data.view);
    this.loaded = true;
    if (!this.element) return;
    this.groups.offer();
    this.layout();
  }

  async rowsOf(r) {
    const program = this.programs[r.program] || null, texts = r.texts || [];
    const row = (track, thread) => ({
      rank: r.rank, thread, shape: r.shape, program, track, calls: program ? program.calls : undefined,
      functionOf: (t) => program.functions[t], textOf: (t) => this.data.texts[texts[t]],
    });
    if (r.calls) return this.unpacked(program, unpackCalls(program, await inflate(r.calls)), row);
    if (r.rows) {
      return Promise.all(r.rows.map(async ({ thread, bins }) => row(Bins.unpack(await inflate(bins), this.data.bins, this.data.span), thread)));
    }
    if (!program) return new RemoteRank(this, r.rank).open();
    return [row(new Estimate(program, decodeSteps(r.edges), decodeSteps(r.times)))];
  }

  // unpacked returns the rows of all calls of a rank: of each thread, if there are several.
  unpacked(program, calls, row) {
    const classOf = program.functions.map((f) => this.classOf[f]);
    if (!program.threads) return [row(new Calls(calls, classOf, classes))];
    const byThread = new Map();
    calls.terminals.forEach((t, i) => {
      const thread = program.threads[t];
      if (!byThread.has(thread)) byThread.set(thread, []);
      byThread.get(thread).push(i);
    });
    return [...byThread].sort((a, b) => a[0] - b[0]).map(([thread, list]) => row(new Calls({
      terminals: Int32Array.from(list, (i) => calls.terminals[i]), starts: Float64Array.from(list, (i) => calls.starts[i]),
      durations: Float64Array.from(list, (i) => calls.durations[i]), positions: Int32Array.from(list),
    }, classOf, classes), thread));
  }

  // start makes the chart when it is to be seen for the first time.
  start(element) {
    this.element = element;
    const phone = element.clientWidth < 600;
    this.left = phone ? 44 : 72;
    this.right = 8;
    this.top = 4;
    this.bottom = 46;
    this.head = phone ? 32 : 22; // of groups
    this.chart = echarts.init(element, null, { renderer: 'canvas', height: 100 });
    this.moves = navigate(element, {
      x: this.span, y: null, area: () => this.area(), changed: () => this.draw(), select: (from, to) => this.select(from, to),
    });
    element.addEventListener('pointermove', (e) => this.hover(e));
    element.addEventListener('pointerleave', () => this.leave());
    element.addEventListener('click', (e) => this.click(e));
    addEventListener('scroll', () => this.leave(), { passive: true });
    element.addEventListener('keydown', (e) => this.key(e));
    this.overview = new Overview(this);
    this.controls();
    this.say(null);
    this.layout();
  }

  // layout gives the rows that are shown their room.
  layout() {
    const n = Math.max(1, this.rows.length);
    this.height = Math.max(3, Math.min(n > 8 ? 26 : 36, Math.floor(520 / n)));
    this.row = Math.min(this.row, n - 1);
    let y = this.top;
    this.places = this.rows.map((r, i) => {
      const group = this.groups.of(r), height = r.group ? Math.max(this.height, 16) : this.height;
      if (group && group !== this.groups.of(this.rows[i - 1])) {
        group.top = y;
        y += this.head;
      }
      y += height;
      return { top: y - height, height };
    });
    this.inner = Math.max(y - this.top, this.height);
    this.groups.place(this.head);
    this.element.style.height = `${this.top + this.bottom + this.inner}px`;
    this.chart.resize({ height: this.top + this.bottom + this.inner });
    this.legend();
    this.draw();
  }

  // setRows shows rows, in the order that is chosen, by groups if there are some.
  setRows(rows) {
    this.ranked = this.groups.arrange(this.sorted(rows));
    this.refold();
  }

  // sorted returns rows in the order that is chosen.
  sorted(rows) {
    const order = this.figure.querySelector('[data-order]').value, time = new Map(order === 'time' ? rows.map((r) => [r, this.inCalls(r)]) : []);
    const by = {
      rank: () => 0, time: (a, b) => time.get(b) - time.get(a), end: (a, b) => b.track.end - a.track.end,
      flow: (a, b) => a.shape - b.shape,
    }[order] || (() => 0);
    return [...rows].sort((a, b) => by(a, b) || a.rank - b.rank || (a.thread || 0) - (b.thread || 0));
  }

  // showRanks shows all ranks that there are, whichever were chosen.
  showRanks() {
    this.figure.querySelector('[data-ranks]').value = '';
    this.setRows(this.all);
  }

  // refold shows the rows of groups that are unfolded, and one of each other.
  refold() {
    const here = this.rows[this.row];
    this.rows = this.groups.shown(this.ranked);
    const group = this.groups.of(here);
    this.row = Math.max(0, this.rowOf(here), group ? this.rowOf(group.rows[0]) : 0);
    if (this.selection) this.say(null);
    this.selection = null;
    if (this.element) this.layout();
  }

  // rowOf returns the number of a row, or of that of its group, −1 if it is not shown.
  rowOf(r) { return this.rows.findIndex((s) => s === r || (s.group && s.group.rows.includes(r))); }

  area() {
    return { x: this.left, y: this.top, width: Math.max(1, this.element.clientWidth - this.left - this.right), height: this.inner };
  }

  // trackOf returns what is drawn of a row: calls, or what they wait.
  trackOf(r) {
    if (this.colored === 'function') return r.track;
    if (r.group) return new GroupTrack(r.group.rows.map((row) => ({ track: this.trackOf(row) })));
    if (r.remote) return r.track.states();
    return (r.states ||= r.waits ? r.waits.track() : new Together(r.track));
  }

  colors() {
    if (this.colored === 'wait') return Array.from({ length: classes }, (_, k) => (k === 0 ? this.page.theme.other : stateColor((this.data.kinds || [])[k - 1], this.page.dark)));
    const of = (k) => (k < classes - 1 || this.functions.length <= classes ? colorOf((this.functions[k] || { name: '' }).name, this.page.dark) : this.page.theme.other);
    return Array.from({ length: classes }, (_, k) => of(k));
  }

  // classNamed returns the name of a class.
  classNamed(k) { return k < classes - 1 || this.functions.length === classes ? this.functions[k].name : 'other functions'; }

  legend() {
    if (this.colored === 'wait') {
      const entries = [...this.data.kinds.map((name, k) => ({ color: this.colors()[k + 1], name })), { color: this.colors()[0], name: 'in a call, not waiting' }];
      this.page.legend(this.figure.querySelector('.legend'), entries, true);
      return;
    }
    const used = new Set(this.programs.flatMap((p) => p.functions.map((f) => this.classOf[f])));
    if (this.all.some((r) => !r.program)) this.functions.forEach((_, i) => used.add(this.classOf[i]));
    const colors = this.colors(), list = this.figure.querySelector('.legend');
    const entries = [...used].sort((a, b) => a - b).map((k) => {
      const single = k < classes - 1 || this.functions.length === classes;
      return { color: colors[k], name: this.classNamed(k), find: single ? { function: k } : null };
    });
    this.page.legend(list, entries, this.timed);
  }

  // drawRows returns the rectangles of each class and the rows they are in.
  drawRows(width) {
    const rects = Array.from({ length: classes }, () => []);
    const rows = this.rows.map((r, i) => {
      const { top, height } = this.places[i], pad = height > 12 ? 2 : height > 7 ? 1 : 0;
      const row = new (r.group ? SumRow : Row)(classes, top + pad, height - 2 * pad, this.left, width, rects);
      this.trackOf(r).draw(this.span.low, this.span.high, row);
      row.finish();
      return row;
    });
    return { rects, rows };
  }

  // begin returns when the run begins.
  get begin() { return this.span.home ? this.span.home[0] : this.span.min; }

  // pair has this timeline and that of another run show the same part, counted from where the runs begin.
  pair(other) {
    const both = [this, other];
    if (!both.every((t) => t.timed)) return;
    const before = Math.max(...both.map((t) => t.begin - t.span.min)), after = Math.max(...both.map((t) => t.span.max - t.begin));
    for (const t of both) t.length = t.span.max - t.span.min;
    for (const t of both) [t.span.min, t.span.max] = [t.begin - before, t.begin + after];
    [this.twin, other.twin] = [other, this];
    for (const t of both) if (!t.span.home) t.span.reset();
    if (this.element) this.draw();
  }

  // lead has the other timeline show the same part.
  lead() {
    const { twin, span } = this, low = span.low - this.begin + (twin ? twin.begin : 0);
    if (!twin || Math.abs(twin.span.low - low) + Math.abs(twin.span.width - span.width) < 1e-6 * span.width) return;
    twin.span.set(low, low + span.width);
    if (twin.element) twin.draw();
  }

  draw() {
    this.lead();
    const { theme } = this.page, area = this.area(), { rects, rows } = this.drawRows(area.width), shown = this.rows;
    this.drawn = rects;
    const colors = this.colors(), axis = this.timed ? axisFrom(this.span.low, this.span.width) : { label: formatAxisCount, base: '' };
    const base = { x: this.left, width: area.width };
    const parts = [
      () => rows.map((row, i) => ({ type: 'rect', silent: true, shape: { ...base, y: row.top, height: row.height, stamp: i }, style: { fill: theme.outside } })),
      ...rects.map((list, k) => () => [{ type: 'reprise-rects', silent: true, shape: { rects: new Float64Array(list) }, style: { fill: colors[k] } }]),
      () => rows.flatMap((row, i) => !shown[i].track.rough ? [] : [{ type: 'rect', silent: true, shape: { ...base, y: row.top, height: row.height }, style: { fill: { image: theme.hatch, repeat: 'repeat' } } }]),
      () => rows.flatMap((row, i) => row.height < 14 ? [] : row.labels.map((l) => ({
        type: 'text', silent: true, style: {
          text: this.labelOf(shown[i], l.terminal), x: l.x + 5, y: row.top + row.height / 2, width: l.width - 10, overflow: 'truncate', ellipsis: '…',
          font: theme.smallFont, verticalAlign: 'middle', align: 'left', ...labelStyle(colors[l.kind], shown[i].track.rough) } }))),
      () => this.marks(),
    ];
    this.chart.setOption({
      animation: false,
      textStyle: { fontFamily: theme.font },
      aria: { enabled: false },
      grid: { left: this.left, right: this.right, top: this.top, bottom: this.bottom, outerBoundsMode: 'none' },
      xAxis: {
        type: 'value', name: axis.base, nameLocation: 'middle', nameGap: 26, nameTextStyle: { color: theme.quiet }, min: this.span.low, max: this.span.high, splitNumber: Math.max(3, Math.floor(area.width / 110)),
        axisLine: { show: true, lineStyle: { color: theme.line } }, axisTick: { show: true, lineStyle: { color: theme.line } },
        splitLine: { show: false },
        axisLabel: { color: theme.quiet, formatter: (v) => (this.place(v) + 3.5 * axis.label(v).length > this.element.clientWidth ? '' : axis.label(v)), hideOverlap: true, showMinLabel: false, showMaxLabel: false },
      },
      yAxis: { type: 'value', min: 0, max: 1, show: false },
      series: [{
        type: 'custom', clip: true, silent: true, progressive: 0, encode: { x: 0, y: 1 }, data: parts.map(() => [this.span.low, 0]),
        renderItem: ({ dataIndex }) => ({ type: 'group', $mergeChildren: false, children: parts[dataIndex]() }),
      }, {
        type: 'custom', clip: false, silent: true, encode: { x: 0, y: 1 }, data: [[this.span.low, 0]],
        renderItem: () => ({ type: 'group', $mergeChildren: false, children: this.labels() }),
      }],
    }, { notMerge: true });
    const seen = this.figure.querySelector('.seen');
    if (seen) seen.textContent = this.describe();
    this.overview.draw();
    for (const remote of new Set(this.ranked.map((r) => r.remote).filter(Boolean))) remote.refine(this.span.low, this.span.high, area.width);
    if (this.pointer) this.tell();
  }

  // labelOf returns what stands in a call of a row.
  labelOf(r, terminal) {
    if (this.colored === 'wait') return terminal > 0 ? this.data.kinds[terminal - 1] : '';
    return this.named(r, { terminal }).name;
  }

  // labels are what stands before the rows, as many as there is room for.
  labels() {
    const { theme } = this.page, step = Math.ceil(14 / this.height), long = this.left > 60;
    let run = 0;
    return this.rows.flatMap((r, i) => {
      const { top, height } = this.places[i], last = this.places[i - 1];
      run = last && last.top + last.height === top ? run + 1 : 0;
      if (r.group ? !long : run % step > 0) return [];
      const text = r.group ? 'all' : (long ? 'rank ' : '') + r.rank + (r.thread === undefined ? '' : ` t${r.thread}`);
      return [{ type: 'text', silent: true, style: { text, x: this.left - 8, y: top + height / 2, fill: theme.quiet, font: `12px ${theme.font}`, align: 'right', verticalAlign: 'middle' } }];
    });
  }

  // later draws again soon, once for all that has come by then.
  later() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      this.draw();
    });
  }

  // place returns where a time is, in pixels.
  place(time) { return this.left + (time - this.span.low) / this.span.width * this.area().width; }

  // marks are the call that is chosen, and the selection.
  marks() {
    const { theme } = this.page, area = this.area(), out = [];
    const box = (row, last, from, to, style) => {
      const x = Math.max(this.left, this.place(from)), right = Math.min(this.left + area.width, this.place(to));
      if (right >= x) out.push({ type: 'rect', silent: true, shape: { x, y: this.places[row].top, width: Math.max(2, right - x), height: this.places[last].top + this.places[last].height - this.places[row].top }, style });
    };
    if (this.selection) {
      const s = this.selection;
      box(s.first, s.last, s.from, s.to, { fill: theme.selection, stroke: theme.accent, lineWidth: 1 });
    }
    const at = this.chosen ? this.rows.indexOf(this.chosen.row) : -1;
    if (at >= 0) box(at, at, this.chosen.start, this.chosen.start + this.chosen.duration, { fill: 'none', stroke: theme.text, lineWidth: 2 });
    for (const w of this.seenWaits()) this.waitArrow(w, out);
    for (const { from, to } of this.messages()) {
      const rows = [from, to].map((end) => this.rowOf(end.row));
      if (rows.includes(-1) || (rows[0] === rows[1] && this.rows[rows[0]].group)) continue;
      const [y0, y1] = rows.map((row) => this.places[row].top + this.places[row].height / 2), shape = { x0: this.place(from.start), y0, x1: this.place(to.end), y1 };
      out.push({ type: 'reprise-arrow', silent: true, shape, style: { fill: 'none', stroke: theme.ground, lineWidth: 4 } },
        { type: 'reprise-arrow', silent: true, shape, style: { fill: 'none', stroke: theme.text, lineWidth: 1.5 } });
    }
    return out;
  }

  // seenWaits returns the waits to which arrows are drawn: that of the call that is chosen and, if colours stand for
  // waits, those that are wide, at most so many.
  seenWaits() {
    const most = 60, wide = 14 * this.span.width / this.area().width, chosen = this.waitOf(this.chosen), list = [];
    if (this.colored === 'wait') {
      for (const row of this.rows) if (row.waits) row.waits.within(this.span.low, this.span.high, (w) => { if (w.time > wide) list.push({ ...w, row }); });
      list.sort((a, b) => b.time - a.time);
    }
    return [...list.slice(0, most), ...(chosen ? [{ ...chosen, row: this.chosen.row, chosen: true }] : [])];
  }

  // waitOf returns how a call waited, null if it did not, or if that is not known.
  waitOf(call) { return call && call.row && call.row.waits ? call.row.waits.of(call.position) : null; }

  // waitArrow adds an arrow from a call that waits to when the call starts that it waits for.
  waitArrow({ row, rank, start, time, chosen }, out) {
    const other = this.all.find((r) => r.rank === rank), rows = [this.rows.indexOf(row), other ? this.rowOf(other) : -1];
    if (rows.includes(-1)) return;
    const [y0, y1] = rows.map((n) => this.places[n].top + this.places[n].height / 2), shape = { x0: this.place(start), y0, x1: this.place(start + time), y1 };
    const { theme } = this.page, width = chosen ? 2 : 1.2;
    out.push({ type: 'reprise-arrow', silent: true, shape, style: { fill: 'none', stroke: theme.ground, lineWidth: width + 2 } },
      { type: 'reprise-arrow', silent: true, shape, style: { fill: 'none', stroke: chosen ? theme.waiting : theme.text, lineWidth: width } });
  }

  // culprit returns the call of another rank that a call waited for, as far as it is shown.
  culprit({ rank, start, time }) {
    for (const r of this.all.filter((row) => row.rank === rank && row.waits)) {
      const call = r.track.find(start + time);
      if (call && call.start === start + time) return { rank, position: call.position };
    }
    return null;
  }

  // messages returns those of the call that is chosen: from the call that sends one to that
  // with which its receipt ends, and which of the two is at the other end.
  messages() {
    const c = this.chosen;
    if (!c || c.position === undefined) return [];
    if (c.messages) {
      const end = (row, call) => ({ row, position: call.position, start: call.start, end: call.start + call.duration });
      return c.messages.map(({ sends, other, done }) => {
        const here = end(c.row, c), there = end(this.all.find((r) => r.rank === other.rank && (r.thread === undefined || r.thread === other.thread)), other);
        const [from, to] = sends ? [here, there] : [there, here];
        return { other: { ...there, rank: other.rank, thread: other.thread }, sends, from, to: { ...to, end: done.start + done.duration } };
      });
    }
    if (!this.arrows) return [];
    const end = (of, position, last) => {
      const row = this.all.find((r) => r.of === of && r.track.at(position)), call = row.track.at(position), done = row.track.at(last) || call;
      return { row, rank: row.rank, thread: row.thread, position, start: call.start, end: done.start + done.duration };
    };
    return this.arrows.of(c.row.of, c.position, 64).map((m) => {
      const from = end(m.from, m.sent, m.sent), to = end(m.to, m.received, m.done);
      return { from, to, sends: m.sends, other: m.sends ? to : from };
    });
  }

  // partners returns buttons for the calls at the other ends of messages.
  partners() {
    const list = document.createElement('div');
    list.className = 'partners';
    const waited = this.waitOf(this.chosen), culprit = waited && this.culprit(waited);
    if (culprit) {
      const button = document.createElement('button');
      button.textContent = `waits for rank ${formatCount(waited.rank)}, position ${formatCount(culprit.position)}`;
      this.page.link(button, culprit);
      list.append(button);
    }
    for (const { from, to, sends, other } of this.messages()) {
      const button = document.createElement('button'), took = formatTime(to.end - from.start);
      button.textContent = `${sends ? 'to' : 'from'} ${this.who(other).toLowerCase()}, position ${formatCount(other.position)}: ${took} from sending to receipt`;
      this.page.link(button, { rank: other.rank, position: other.position });
      list.append(button);
    }
    return list;
  }

  describe() {
    const { span } = this;
    const isAt = (place) => place && span.low === place[0] && span.high === place[1];
    const region = isAt(this.data.view) ? `${this.data.region}: ` : '';
    if (!this.timed) return `${region}calls ${formatCount(Math.floor(span.low))} to ${formatCount(Math.ceil(span.high))} of ${formatCount(span.max)}`.replace(/^c/, 'C');
    const home = isAt(span.home);
    const text = region ? `${region}${formatTime(span.width)} of ` : span.whole ? 'All of ' : home ? `The run, ${formatTime(span.width)} of ` : `${formatTime(span.width)} from ${timeAt(span.low, span.width / 20)} on, of `;
    return text + formatTime(this.length || span.max - span.min);
  }

  // callAt returns what is known of a row at a time.
  callAt(row, time) {
    const r = this.rows[row];
    if (!r || time < r.track.start) return null;
    if (r.group) return this.groupAt(row, r.group, time);
    const call = r.track.find(time);
    if (!call) return null;
    if (call.bin !== undefined) return { row, ...call };
    const running = time >= call.start && time <= call.start + call.duration;
    return { row, running, ...this.named(r, call) };
  }

  // groupAt returns what is known of a group that is folded, in the columns at a time.
  groupAt(row, group, time) {
    if (time > group.row.track.end) return null;
    const [from, to] = group.around(time, this.span.low, 2 * this.span.width / this.area().width, this.span.max);
    return { row, group, bin: true, from, to, ...group.sum(from, to) };
  }

  // named returns a call of a row with its function and its words.
  named(r, call) {
    const number = r.functionOf(call.terminal), f = this.functions[number];
    const text = r.textOf(call.terminal) ?? (f ? `${f.name}(…)` : 'a call that this page leaves out');
    return { ...call, function: number, name: f ? f.name : text, text };
  }

  // nodeOf returns the number of the node of a rank, −1 if that is not known.
  nodeOf(rank) { return this.nodes.findIndex((ranges) => ranksIn(ranges, rank, rank + 1) > 0); }

  who(r) { return r.group ? `${r.group.name}, ${r.group.size}` : `Rank ${formatCount(r.rank)}` + (r.thread === undefined ? '' : `, thread ${r.thread}`) + (this.nodes.length > 0 ? `, node ${this.nodeOf(r.rank)}` : ''); }

  // lines returns what is told of a call: texts, and the call last.
  lines(call) {
    const r = this.rows[call.row], who = this.who(r);
    if (call.group) return this.groupLines(call, who);
    if (call.bin !== undefined) {
      return [who, `${formatTime(call.duration)} from ${timeAt(call.start, 1)} on: ${formatCount(call.calls)} call${call.calls === 1 ? '' : 's'} begin, ${formatTime(call.time)} in calls`, r.remote ? 'Zoom in to see single calls.' : 'The single calls are not in this page.'];
    }
    const what = `${who}, position ${formatCount(call.position)}, of ${formatCount(r.calls)} calls`;
    if (!this.timed) return [what, call.text];
    if (r.track.rough && r.program) return [what, `${formatTime(call.mean)}: mean of ${formatCount(r.program.of[call.terminal])} calls; when this one began is an estimate`, call.text];
    const about = this.error > 0 ? `, within ${+(100 * this.error).toPrecision(3)} %` : '', waited = r.waits && r.waits.of(call.position);
    const waits = waited ? `; ${this.data.kinds[waited.kind]}: waits ${formatTime(waited.time)} for rank ${formatCount(waited.rank)}` : '';
    return [what, `starts at ${timeAt(call.start, 1)}, takes ${formatTime(call.duration)}${about}${waits}` + (call.running === false ? '; not in a call before' : ''), call.text];
  }

  // groupLines returns what is told of a group that is folded.
  groupLines({ group, from, to, times, known }, who) {
    const whole = (to - from) * known, percent = (v) => `${(100 * v / whole).toFixed(1)} %`, n = group.rows.length;
    const about = group.rough(from, to) || this.error > 0 ? 'about ' : '', some = known < n ? ` (of ${known} of them, so far)` : '';
    const where = this.timed ? `${formatTime(to - from)} from ${timeAt(from, (to - from) / 10)} on` : `calls ${formatCount(Math.floor(from))} to ${formatCount(Math.ceil(to))}`;
    const order = [...times.keys()].filter((k) => times[k] > 1e-9 * whole).sort((a, b) => times[b] - times[a] || a - b);
    if (known === 0 || order.length === 0) return [who, where, known === 0 ? 'not known yet' : 'in no call'];
    const share = this.timed ? `: ${about}${percent(times.reduce((a, b) => a + b, 0))} of the time in calls` : '';
    return [who, where + share + some, order.slice(0, 3).map((k, i) => `${i === 0 ? 'most in ' : ''}${this.classNamed(k)}: ${about}${percent(times[k])}`).join('; ')];
  }

  // rowAt returns the number of the row at a place of the chart: that or the one above, if
  // near is set.
  rowAt(y, near) {
    const row = this.places.findLastIndex(({ top }) => top <= y);
    if (near) return Math.max(0, row);
    return row >= 0 && y < this.places[row].top + this.places[row].height ? row : -1;
  }

  // over returns the row and the time at a place of the window, null outside.
  over(clientX, clientY) {
    const box = this.element.getBoundingClientRect(), area = this.area();
    const x = clientX - box.left - area.x, row = this.rowAt(clientY - box.top, false);
    if (x < 0 || x > area.width || row < 0) return null;
    return { row, time: this.span.low + (x / area.width) * this.span.width };
  }

  hover(e) {
    if (e.pointerType === 'touch') return;
    this.pointer = { x: e.clientX, y: e.clientY };
    this.tell();
  }

  leave() {
    this.pointer = null;
    this.page.tip(null);
  }

  // tell shows what is under the pointer, also after what is drawn has moved.
  tell() {
    const at = this.over(this.pointer.x, this.pointer.y), call = at && this.callAt(at.row, at.time);
    this.page.tip(call ? this.lines(call) : null, this.pointer.x, this.pointer.y, true);
    if (call && !this.chosen) this.say(call);
  }

  click(e) {
    if (this.moves.moved()) return;
    const at = this.over(e.clientX, e.clientY), call = at && this.callAt(at.row, at.time);
    this.selection = null;
    if (at) this.row = at.row;
    this.choose(call && call.bin === undefined ? call : null);
    if (call) this.say(call);
  }

  // choose marks a call, and tells of it until another is chosen.
  choose(call) {
    this.chosen = call && { ...call, row: this.rows[call.row] };
    this.say(call);
    this.draw();
    if (this.chosen && this.chosen.row.remote && !this.chosen.messages) this.ask(this.chosen);
  }

  // ask asks for the messages of a call that is chosen.
  async ask(chosen) {
    const call = await chosen.row.remote.call(chosen.position);
    if (this.chosen !== chosen || !call) return;
    chosen.messages = call.messages || [];
    const row = this.rows.indexOf(chosen.row);
    if (row >= 0) this.say({ ...chosen, row }); // otherwise its group is folded
    this.draw();
  }

  key(e) {
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    const row = { ArrowUp: -1, ArrowDown: 1 }[e.key], step = { '.': 1, ',': -1 }[e.key];
    const group = e.key === 'Enter' || e.key === ' ' ? this.groups.of(this.rows[this.row]) : null;
    if (!row && !step && !group && e.key !== 'Escape') return;
    e.preventDefault();
    if (group) {
      this.groups.fold([group], !group.folded);
      this.say(this.callAt(this.row, (this.span.low + this.span.high) / 2));
      return;
    }
    if (e.key === 'Escape') {
      this.selection = null;
      this.choose(null);
      return;
    }
    if (row) {
      this.row = Math.max(0, Math.min(this.rows.length - 1, this.row + row));
      this.say(this.callAt(this.row, (this.span.low + this.span.high) / 2));
      return;
    }
    const from = this.chosen && this.rows[this.row] === this.chosen.row ? this.chosen : this.callAt(this.row, (this.span.low + this.span.high) / 2);
    if (from && from.position !== undefined) this.jump(this.rows[this.row], from.position + step);
  }

  // jump shows the call at a position of a row, and chooses it.
  async jump(r, position) {
    let call = r.track.at(position);
    if (call) call = this.named(r, call);
    else if (r.remote) call = await r.remote.call(position);
    if (!call) return false;
    return this.jumpTo(r, call);
  }

  // jumpTo shows a call of a row, and chooses it.
  jumpTo(r, call) {
    if (!this.ranked.includes(r)) this.showRanks();
    if (!this.rows.includes(r)) this.groups.fold([this.groups.of(r)], false);
    this.row = this.rows.indexOf(r);
    const { span } = this, end = call.start + call.duration;
    if (call.duration * 40 < span.width || call.duration > span.width || call.start < span.low || end > span.high) {
      const width = call.duration > span.width || call.duration * 40 < span.width ? Math.max(call.duration * 8, span.least) : span.width;
      span.set((call.start + end - width) / 2, (call.start + end + width) / 2);
    }
    this.choose({ running: true, ...call, row: this.row });
    return true;
  }

  // keeper returns which terminals of a row a search is for.
  keeper(r, what) {
    if (what.function !== undefined) return (t) => r.functionOf(t) === what.function;
    if (what.signature !== undefined) return (t) => r.program.signatures[t] === what.signature;
    const part = what.text.toLowerCase();
    return (t) => this.named(r, { terminal: t }).text.toLowerCase().includes(part);
  }

  // find goes to the next call that is searched for, in the row that is chosen and then in
  // those after it, or before it with step −1. It says whether there is any.
  async find(what, step) {
    const here = this.chosen && this.rowOf(this.chosen.row) === this.row ? this.chosen : null, group = (this.rows[this.row] || {}).group;
    const n = this.ranked.length, begins = this.ranked.indexOf(here ? here.row : group ? group.rows[0] : this.rows[this.row]);
    const from = here ? here.position + (step > 0 ? 1 : 0) : null;
    for (let i = 0; i <= n; i++) {
      const r = this.ranked[(((begins + i * step) % n) + n) % n];
      const begin = i === 0 && from !== null ? from : step > 0 ? 0 : Infinity;
      if (r.remote) {
        const call = await r.remote.next(r.thread, begin, step, what);
        if (call) return this.jumpTo(r, call);
        continue;
      }
      const position = r.program ? r.track.next(begin, step, this.keeper(r, what)) : -1;
      if (position >= 0) return this.jump(r, position);
    }
    return false;
  }

  // show goes to what a link is to, and says whether it is there.
  async show(link) {
    if (link.rank === undefined) {
      this.chosen = null;
      this.row = 0;
      return this.find(link, 1);
    }
    const there = await this.showCall(link);
    if (there && link.to !== undefined) await this.showUntil(link);
    return there;
  }

  // showUntil shows all from the call that is chosen to another of its rank.
  async showUntil({ to }) {
    const r = this.chosen.row, last = r.track.at(to) || (r.remote && await r.remote.call(to));
    if (!last) return;
    const from = this.chosen.start, end = Math.max(last.start + last.duration, from + this.span.least);
    this.span.set(from - (end - from) / 50, end + (end - from) / 50);
    this.draw();
  }

  // showCall goes to the call of a rank at a position.
  async showCall(link) {
    const rows = this.all.filter((r) => r.rank === link.rank);
    const r = rows.find((row) => row.track.at(link.position));
    if (r) return this.jump(r, link.position);
    if (rows.length === 0 && this.data.served) {
      rows.push(...await this.add([link.rank]));
      this.showRanks();
    }
    const { remote } = rows[0] || {};
    if (!remote || remote.rows.length === 0) return false;
    const call = await remote.call(link.position);
    return this.jumpTo(remote.rows.find((row) => row.thread === undefined || row.thread === call.thread), call);
  }

  // open adds the rows of a rank, and returns them.
  async open(rank) {
    const remote = new RemoteRank(this, rank), rows = await remote.open();
    if (rows.length > 0 && this.needsSums(this.groups.kind)) await remote.sum();
    this.all.push(...rows);
    return rows;
  }

  // add adds the rows of ranks that are not there yet, and returns those of all of them. It may
  // be called again meanwhile.
  async add(ranks) {
    const missing = [];
    for (const rank of ranks) {
      if (this.all.some((r) => r.rank === rank)) continue;
      if (!this.opening.has(rank)) this.opening.set(rank, this.open(rank).finally(() => this.opening.delete(rank)));
      if ((await this.opening.get(rank)).length === 0) missing.push(rank);
    }
    this.figure.querySelector('.found').textContent = missing.length > 0 ? `ranks ${missing.join(', ')} have no times of every call` : '';
    this.span.max = Math.max(this.span.max, ...this.all.map((r) => r.track.end));
    this.groups.offer();
    return this.all.filter((r) => ranks.includes(r.rank));
  }

  // learned is called when the sums of the whole of a rank have come.
  learned() {
    if (this.all.every((r) => !r.remote || r.track.whole)) this.groups.offer();
  }

  // controls are the search, and the choice, the order and the groups of ranks.
  controls() {
    const { figure } = this, field = figure.querySelector('[data-search]'), out = figure.querySelector('.found');
    const search = async (step) => {
      if (!field.value.trim()) return;
      const exact = this.functions.findIndex((f) => f.name === field.value.trim());
      const there = await this.find(exact >= 0 ? { function: exact } : { text: field.value.trim() }, step);
      out.textContent = there ? '' : 'not in these ranks';
    };
    field.addEventListener('keydown', (e) => { if (e.key === 'Enter') search(e.shiftKey ? -1 : 1); });
    field.addEventListener('input', () => { out.textContent = ''; });
    for (const button of figure.querySelectorAll('[data-next]')) button.addEventListener('click', () => search(Number(button.dataset.next)));
    const ranks = figure.querySelector('[data-ranks]'), order = figure.querySelector('[data-order]'), group = figure.querySelector('[data-group]');
    const arrange = () => this.arrange(ranks.value, group.value);
    for (const field of [ranks, order, group]) field.addEventListener('change', arrange);
    for (const button of figure.querySelectorAll('[data-fold]')) button.addEventListener('click', () => this.groups.fold(this.groups.list, button.dataset.fold === 'all'));
    if (this.loaded) this.groups.offer();
    figure.querySelector('[data-colors]').hidden = !this.data.kinds;
    for (const button of figure.querySelectorAll('[data-color]')) {
      button.setAttribute('aria-pressed', button.dataset.color === this.colored);
      button.addEventListener('click', () => this.color(button.dataset.color));
    }
  }

  // color has colours stand for functions or for waits.
  color(what) {
    this.colored = what;
    for (const button of this.figure.querySelectorAll('[data-color]')) button.setAttribute('aria-pressed', button.dataset.color === what);
    this.legend();
    this.draw();
  }

  // arrange shows the rows of some ranks, written as 0-3,8, by groups.
  async arrange(ranks, kind) {
    const turn = this.turn = (this.turn || 0) + 1;
    const parts = ranks.split(',').map((p) => p.trim().match(/^(\d+)(?:-(\d+))?$/)).filter(Boolean).map(([, a, b]) => [Number(a), Number(b ?? a)]);
    if (this.data.served && this.timed) await this.add(parts.flatMap(([a, b]) => Array.from({ length: Math.min(256, Math.max(0, Math.min(b, this.data.of - 1) - a + 1)) }, (_, i) => a + i)).slice(0, 256));
    let rows = this.all.filter((r) => parts.length === 0 || parts.some(([a, b]) => r.rank >= a && r.rank <= b));
    if (rows.length === 0) rows = [...this.all];
    if (this.needsSums(kind)) {
      await Promise.all([...new Set(rows.map((r) => r.remote).filter(Boolean))].map((remote) => remote.sum()));
    }
    if (turn !== this.turn) return; // something else was chosen meanwhile
    this.groups.choose(kind, rows);
    this.setRows(rows);
  }

  // needsSums reports whether the order that is chosen or groups depend on the times of rows.
  needsSums(kind) { return kind === 'most' || kind === 'share' || this.figure.querySelector('[data-order]').value === 'time'; }

  // inCalls returns how long a row is in calls, or how many it makes if there are no times.
  inCalls(r) {
    let sum = 0;
    const track = r.remote ? r.track.whole : r.track;
    if (!track) return 0;
    for (const s of this.usage({ ...r, track }, -Infinity, Infinity).values()) sum += this.timed ? s.time : s.calls;
    return sum;
  }

  // usage returns what a row does between two times: calls and time of each function, −1
  // for all that have no number of their own.
  usage(r, from, to) {
    const { track } = r, found = new Map();
    const add = (f, calls, time) => {
      const s = found.get(f) || { calls: 0, time: 0 };
      found.set(f, { calls: s.calls + calls, time: s.time + time });
    };
    if (track instanceof Calls) track.within(from, to, (t, time) => add(r.functionOf(t), 1, time));
    else track.within(from, to, (f, calls, time) => add(f === classes - 1 && track instanceof Bins && this.functions.length > classes ? -1 : f, calls, time));
    return found;
  }

  // select shows what happens in a part of the timeline: shares of its width and height.
  select(a, b) {
    const rowOf = (share) => this.rowAt(this.top + Math.min(0.999999, share) * this.inner, true);
    const timeOf = (share) => this.span.low + Math.max(0, Math.min(1, share)) * this.span.width;
    const [from, to] = [timeOf(Math.min(a[0], b[0])), timeOf(Math.max(a[0], b[0]))];
    this.selection = { from, to, first: rowOf(Math.min(a[1], b[1])), last: rowOf(Math.max(a[1], b[1])) };
    this.chosen = null;
    this.selected();
    this.draw();
  }

  // selected writes the statistics of the selection.
  async selected() {
    const s = this.selection, shown = this.rows.slice(s.first, s.last + 1), all = new Map();
    const rows = shown.flatMap((r) => (r.group ? r.group.rows : [r]));
    let rough = this.error > 0 || rows.some((r) => r.track.rough && !r.remote);
    for (const r of rows) {
      let usage;
      if (r.remote) {
        const asked = await r.remote.usage(r.thread, s.from, s.to);
        if (this.selection !== s) return;
        rough = rough || asked.rough;
        usage = asked.found;
      } else {
        usage = this.usage(r, s.from, s.to);
      }
      for (const [f, u] of usage) {
        const sum = all.get(f) || { calls: 0, time: 0 };
        all.set(f, { calls: sum.calls + u.calls, time: sum.time + u.time });
      }
    }
    const list = [...all].map(([f, u]) => ({ find: this.functions[f] ? { function: f } : null, name: this.functions[f] ? this.functions[f].name : 'other functions', ...u }));
    list.sort((a, b) => b.time - a.time || b.calls - a.calls);
    s.usage = list;
    const width = (s.to - s.from) * rows.length, calls = list.reduce((n, u) => n + u.calls, 0), time = list.reduce((n, u) => n + u.time, 0);
    s.waits = 0;
    for (const r of rows) if (r.waits) r.waits.within(s.from, s.to, (w) => { s.waits += Math.min(s.to, w.start + w.time) - Math.max(s.from, w.start); });
    const about = rough ? 'about ' : '';
    const where = this.timed ? `${formatTime(s.to - s.from)} from ${timeAt(s.from, this.span.width / 500)} on` : `calls ${formatCount(Math.ceil(s.from))} to ${formatCount(Math.floor(s.to))}`;
    const title = `Selected: ${where}, ${shown.length === 1 ? this.who(shown[0]) : `${formatCount(rows.length)} rows`}: ${about}${formatCount(Math.round(calls))} calls` +
      (this.timed ? `, ${about}${(100 * time / width).toFixed(1)} % of the time in them` : '') + (s.waits > 0 ? `, ${(100 * s.waits / width).toFixed(1)} % waiting for others (${formatTime(s.waits)})` : '');
    this.page.usage(this.figure.querySelector('.readout'), title, list, this.timed, width, rough);
  }

  say(call) {
    const out = this.figure.querySelector('.readout');
    if (!out) return;
    out.replaceChildren();
    out.classList.remove('sums');
    const lines = call ? this.lines(call) : [out.dataset.hint];
    lines.forEach((line, i) => {
      const part = document.createElement(i === 0 && call ? 'b' : 'span');
      if (call && i === lines.length - 1) part.className = 'call';
      part.textContent = i > 0 && i < lines.length - 1 ? ` ${line}` : line;
      out.append(part);
    });
    if (call && this.chosen && call.position === this.chosen.position) out.append(this.partners());
  }

  resize() {
    this.chart.resize();
    this.legend();
    this.draw();
  }
}

// labelStyle returns how text is written on a colour, which is seen behind it where it is hatched.
function labelStyle(color, hatched) {
  return { fill: inkOn(color), ...(hatched ? { backgroundColor: color, padding: [1, 3] } : {}) };
}

// Many rectangles of one colour as one shape.
echarts.graphic.registerShape('reprise-rects', echarts.graphic.extendShape({
  shape: { rects: [] },
  buildPath(path, shape) {
    const r = shape.rects;
    for (let i = 0; i < r.length; i += 4) path.rect(r[i], r[i + 1], r[i + 2], r[i + 3]);
  },
}));

// An arrow, with its head at the end.
echarts.graphic.registerShape('reprise-arrow', echarts.graphic.extendShape({
  shape: { x0: 0, y0: 0, x1: 0, y1: 0 },
  buildPath(path, { x0, y0, x1, y1 }) {
    const angle = Math.atan2(y1 - y0, x1 - x0), head = 8;
    path.moveTo(x0, y0);
    path.lineTo(x1, y1);
    for (const side of [-0.45, 0.45]) {
      path.moveTo(x1, y1);
      path.lineTo(x1 - head * Math.cos(angle + side), y1 - head * Math.sin(angle + side));
    }
  },
}));
