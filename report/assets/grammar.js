// The calls of a rank in compressed form: a grammar, read without expanding it.
// What is drawn costs what can be seen, whatever the number of calls.

// A Program is the grammar of some ranks with how long their calls take on
// average, in a unit of the model: nanoseconds, or calls where there are no
// times. Each call begins after a gap.
//
// A rule is a list of symbols, 2t for terminal t and 2r+1 for rule r, each
// followed by −n if it stands there n > 1 times in a row. A rule refers only to
// those before it; the last one is the start rule.
class Program {
  constructor(rules, { functions, durations, gaps, classOf, classes }) {
    this.functions = functions; // of each terminal
    this.durations = durations; // null: each call takes 1
    this.gaps = gaps; // null: none
    this.classOf = classOf; // of each function
    this.classes = classes; // number of them
    this.rules = [];
    for (const flat of rules) this.rules.push(this.rule(flat));
    const start = this.rules[this.rules.length - 1];
    this.calls = start ? start.calls : 0;
    this.total = start ? start.time : 0;
  }

  rule(flat) {
    let n = 0;
    for (const v of flat) if (v >= 0) n++;
    const rule = {
      symbols: new Float64Array(n), counts: new Float64Array(n).fill(1),
      callsBefore: new Float64Array(n + 1), timeBefore: new Float64Array(n + 1),
      shares: new Float64Array(this.classes), // time in calls of each class
      calls: 0, time: 0,
    };
    let i = -1;
    for (const v of flat) {
      if (v >= 0) rule.symbols[++i] = v;
      else rule.counts[i] = -v;
    }
    for (i = 0; i < n; i++) {
      const s = rule.symbols[i], c = rule.counts[i];
      rule.calls += c * this.callsOf(s);
      rule.time += c * this.timeOf(s);
      rule.callsBefore[i + 1] = rule.calls;
      rule.timeBefore[i + 1] = rule.time;
      if (s % 2) {
        const inner = this.rules[(s - 1) / 2].shares;
        for (let k = 0; k < this.classes; k++) rule.shares[k] += c * inner[k];
      } else {
        rule.shares[this.classOf[this.functions[s / 2]]] += c * this.duration(s / 2);
      }
    }
    return rule;
  }

  duration(t) { return this.durations ? this.durations[t] : 1; }
  gap(t) { return this.gaps ? this.gaps[t] : 0; }
  timeOf(s) { return s % 2 ? this.rules[(s - 1) / 2].time : this.gap(s / 2) + this.duration(s / 2); }
  callsOf(s) { return s % 2 ? this.rules[(s - 1) / 2].calls : 1; }

  // descend finds the call at which what is summed up, by the name of the sums of
  // a rule and what a symbol adds, exceeds a value; the last one at the end.
  descend(sums, of, value) {
    let rule = this.rules[this.rules.length - 1];
    if (!rule || rule.symbols.length === 0) return null;
    let position = 0, before = 0;
    for (;;) {
      const i = lastNotAbove(rule[sums], value, rule.symbols.length - 1);
      value -= rule[sums][i];
      position += rule.callsBefore[i];
      before += rule.timeBefore[i];
      const s = rule.symbols[i], unit = of(s);
      const n = unit > 0 ? Math.min(rule.counts[i] - 1, Math.max(0, Math.floor(value / unit))) : 0;
      value -= n * unit;
      position += n * this.callsOf(s);
      before += n * this.timeOf(s);
      if (s % 2 === 0) return { position, terminal: s / 2, before };
      rule = this.rules[(s - 1) / 2];
    }
  }

  // find returns the call that goes on at a time of the model, or the gap before it.
  find(time) { return this.descend('timeBefore', (s) => this.timeOf(s), time); }

  // at returns the call at a position.
  at(position) { return this.descend('callsBefore', (s) => this.callsOf(s), position); }

  // draw hands what lies from a to b, in times of the model, to a sink: single calls
  // that are as wide as the sink can show, and blocks of what is narrower. Scale is
  // how wide a unit is.
  draw(a, b, scale, sink) {
    if (!(this.total > 0) || !(b > a)) return;
    const stack = [];
    const push = (number, base, unit, first, last) => {
      const frame = { rule: this.rules[number], base, unit, n: first, last, t: base + first * unit, i: 0 };
      frame.i = a > frame.t ? lastNotAbove(frame.rule.timeBefore, a - frame.t, frame.rule.symbols.length - 1) : 0;
      stack.push(frame);
    };
    push(this.rules.length - 1, 0, this.total, 0, 0);
    while (stack.length > 0) {
      const f = stack[stack.length - 1];
      const start = f.i < f.rule.symbols.length ? f.t + f.rule.timeBefore[f.i] : Infinity;
      if (start >= b) {
        if (f.n < f.last && start === Infinity) {
          f.n++;
          f.t = f.base + f.n * f.unit;
          f.i = 0;
        } else {
          stack.pop();
        }
        continue;
      }
      const s = f.rule.symbols[f.i], count = f.rule.counts[f.i];
      f.i++;
      const unit = this.timeOf(s), end = start + count * unit;
      if (end <= a || unit <= 0) continue;
      if (unit * scale < sink.narrow) {
        sink.block(Math.max(a, start), Math.min(b, end), this, s, unit);
        continue;
      }
      const first = Math.max(0, Math.min(count - 1, Math.floor((a - start) / unit)));
      const last = Math.max(first, Math.min(count - 1, Math.ceil((b - start) / unit) - 1));
      if (s % 2) {
        push((s - 1) / 2, start, unit, first, last);
        continue;
      }
      const gap = this.gap(s / 2), took = this.duration(s / 2), kind = this.classOf[this.functions[s / 2]];
      for (let n = first; n <= last; n++) {
        const begin = start + n * unit + gap;
        if (begin + took >= a && begin <= b) sink.call(Math.max(a, begin), Math.min(b, begin + took), kind, s / 2);
      }
    }
  }

  // share returns how much of the time of a symbol is in calls of a class.
  share(s, kind) {
    const time = this.timeOf(s);
    if (!(time > 0)) return 0;
    if (s % 2) return this.rules[(s - 1) / 2].shares[kind] / time;
    return this.classOf[this.functions[s / 2]] === kind ? this.duration(s / 2) / time : 0;
  }
}

// lastNotAbove returns the last index up to most at which an ascending list is not
// above a value, 0 if there is none.
function lastNotAbove(list, value, most) {
  let low = 0, high = most;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

// A Clock turns times of the model of a rank into times of its clock and back. It
// is exact at anchors: edge 2p is the start of call p, edge 2p+1 its end.
class Clock {
  constructor(program, edges, times) {
    this.program = program;
    this.model = [0];
    this.real = [0];
    if (edges && edges.length > 0) {
      this.model = [];
      this.real = [];
      for (let i = 0; i < edges.length; i++) {
        const m = this.edge(edges[i]), last = this.model.length - 1;
        this.model.push(last >= 0 ? Math.max(m, this.model[last]) : m);
        this.real.push(last >= 0 ? Math.max(times[i], this.real[last]) : times[i]);
      }
    }
    const last = this.model.length - 1, rest = Math.max(0, program.total - this.model[last]);
    this.model.push(this.model[last] + rest);
    this.real.push(this.real[last] + rest);
    this.start = this.real[0];
    this.end = this.real[this.real.length - 1];
  }

  edge(e) {
    const call = this.program.at(Math.floor(e / 2));
    if (!call) return 0;
    return call.before + this.program.gap(call.terminal) + (e % 2 ? this.program.duration(call.terminal) : 0);
  }

  static map(from, to, value) {
    if (value <= from[0]) return to[0] - (from[0] - value);
    const i = lastNotAbove(from, value, from.length - 2), width = from[i + 1] - from[i];
    return width > 0 ? to[i] + (Math.min(value, from[i + 1]) - from[i]) * ((to[i + 1] - to[i]) / width) : to[i + 1];
  }

  toReal(m) { return Clock.map(this.model, this.real, m); }
  toModel(t) { return Clock.map(this.real, this.model, t); }

  // call returns the call of a time, or the one that follows if there is none.
  call(time) {
    if (time > this.end) return null;
    return this.timed(this.program.find(this.toModel(time)));
  }

  // at returns the call at a position.
  at(position) { return this.timed(this.program.at(position)); }

  timed(call) {
    if (!call) return null;
    const begin = call.before + this.program.gap(call.terminal);
    const start = this.toReal(begin), end = this.toReal(begin + this.program.duration(call.terminal));
    return { position: call.position, terminal: call.terminal, start, duration: end - start };
  }

  // draw hands what lies from time a to time b to a sink, which takes times of the
  // model and is told how these become places: x(m) = m·sink.scale + sink.offset.
  draw(a, b, left, scale, sink) {
    for (let i = a > this.real[0] ? lastNotAbove(this.real, a, this.real.length - 2) : 0; i < this.model.length - 1; i++) {
      const from = Math.max(a, this.real[i]), to = Math.min(b, this.real[i + 1]);
      if (this.real[i] >= b) break;
      const width = this.model[i + 1] - this.model[i];
      if (!(to > from) || !(width > 0)) continue;
      const rate = (this.real[i + 1] - this.real[i]) / width;
      sink.scale = rate * scale;
      sink.offset = left + (this.real[i] - a) * scale - this.model[i] * sink.scale;
      const m = (t) => this.model[i] + (t - this.real[i]) / rate;
      this.program.draw(m(from), m(to), sink.scale, sink);
    }
  }
}

// A Row collects the rectangles of a row of a timeline, of each class those of its
// colour: x, y, width, height, one after the other. Places are in pixels. Calls that
// are wide enough are rectangles of their own; what is narrower is summed up in
// columns, which are filled as far as their time is in calls of each class.
class Row {
  constructor(classes, top, height, left, width, rects) {
    this.narrow = 3;
    Object.assign(this, { classes, top, height, left, right: left + width, rects, labels: [] });
    this.offset = 0;
    this.scale = 1;
    this.column = 2; // width
    this.columns = Math.ceil(width / this.column);
    this.sums = new Float64Array(this.columns * classes);
    this.weights = new Float64Array(classes);
  }

  x(m) { return Math.max(this.left, Math.min(this.right, m * this.scale + this.offset)); }

  block(a, b, program, s) {
    for (let k = 0; k < this.classes; k++) this.weights[k] = program.share(s, k);
    this.fill(this.x(a), this.x(b));
  }

  call(a, b, kind, terminal) {
    const x0 = this.x(a), x1 = this.x(b), width = x1 - x0;
    if (width < this.narrow) {
      this.weights.fill(0);
      this.weights[kind] = 1;
      this.fill(x0, Math.max(x1, x0 + 1)); // to be seen, however short
      return;
    }
    this.rects[kind].push(x0, this.top, width > 5 ? width - 1 : width, this.height);
    if (width > 48 && this.labels.length < 60) this.labels.push({ x: x0, width, terminal, kind });
  }

  // fill adds the weights, from one place to another, to the columns.
  fill(x0, x1) {
    const from = (x0 - this.left) / this.column, to = (x1 - this.left) / this.column;
    for (let i = Math.floor(from); i < to && i < this.columns; i++) {
      const part = Math.min(to, i + 1) - Math.max(from, i);
      for (let k = 0; k < this.classes; k++) this.sums[i * this.classes + k] += part * this.weights[k];
    }
  }

  // finish makes rectangles of the columns, one of neighbours that are as high.
  finish() {
    const n = this.classes, equal = (i, j) => {
      for (let k = 0; k < n; k++) if (Math.abs(this.sums[i * n + k] - this.sums[j * n + k]) > 0.01) return false;
      return true;
    };
    for (let i = 0, j; i < this.columns; i = j) {
      for (j = i + 1; j < this.columns && equal(i, j); j++);
      let y = this.top + this.height;
      for (let k = 0; k < n; k++) {
        const h = Math.min(this.sums[i * n + k] * this.height, y - this.top);
        if (h <= 0.05) continue;
        y -= h;
        this.rects[k].push(this.left + i * this.column, y, Math.min(this.right - this.left, j * this.column) - i * this.column, h);
      }
    }
  }
}
