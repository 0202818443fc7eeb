// The calls of a rank in compressed form: a grammar, read without expanding it.
// What is drawn costs what can be seen, whatever the number of calls.

// A Kind says which part of a call a terminal is: a call that contains others has one
// first part, one last, and any number of middle parts.
const Kind = { whole: 0, first: 1, last: 2, middle: 3 };

// A Grammar is rules, one after the other.
//
// A rule is a list of symbols, 2t for terminal t and 2r+1 for rule r, each
// followed by −n if it stands there n > 1 times in a row. A rule refers only to
// those before it; the last one is the start rule.
class Grammar {
  constructor(rules) {
    const n = rules.length, size = rules.reduce((sum, flat) => sum + flat.reduce((c, v) => c + (v >= 0), 0), 0);
    this.first = new Int32Array(n + 1); // symbol of each rule
    this.symbols = new Int32Array(size);
    this.counts = new Float64Array(size).fill(1);
    let i = 0;
    rules.forEach((flat, r) => {
      for (const v of flat) {
        if (v >= 0) this.symbols[i++] = v;
        else this.counts[i - 1] = -v;
      }
      this.first[r + 1] = i;
    });
    this.length = n;
    this.callsBefore = this.sums(() => 1);
  }

  // sums returns the sums of what terminals weigh: of what is before each symbol of a
  // rule r, and of the rule, from first[r] + r on.
  sums(weight) {
    const out = new Float64Array(this.symbols.length + this.length);
    for (let r = 0; r < this.length; r++) {
      for (let i = this.first[r]; i < this.first[r + 1]; i++) {
        out[i + r + 1] = out[i + r] + this.counts[i] * this.sumOf(out, this.symbols[i], weight);
      }
    }
    return out;
  }

  sumOf(sums, s, weight) {
    return s % 2 ? sums[this.first[(s + 1) / 2] + (s - 1) / 2] : weight(s / 2);
  }
}

// A Program is a Grammar with how long the calls of some ranks take on average, in
// a unit of the model: nanoseconds, or calls where there are no times. Each call
// begins after a gap. If it has kinds, terminals are parts of calls, as Kind says.
class Program {
  constructor(grammar, { functions, durations, gaps, kinds, classOf, classes }) {
    this.grammar = grammar;
    this.functions = functions; // of each terminal
    this.durations = durations; // null: each call takes 1
    this.gaps = gaps; // null: none
    this.kinds = kinds; // null: all are whole
    this.classOf = classOf; // of each function
    this.classes = classes; // number of them
    this.timeBefore = grammar.sums((t) => this.gap(t) + this.duration(t));
    this.endsBefore = kinds ? grammar.sums((t) => this.ends(t)) : grammar.callsBefore;
    this.shares = new Float64Array(grammar.length * classes); // time in calls of each class
    for (let r = 0; r < grammar.length; r++) this.addShares(r);
    const total = (sums) => (grammar.length > 0 ? sums[sums.length - 1] : 0);
    this.parts = total(grammar.callsBefore);
    this.calls = total(this.endsBefore);
    this.total = total(this.timeBefore);
  }

  // addShares sums up how much time is spent in calls of each class in a rule.
  addShares(r) {
    const { first, symbols, counts } = this.grammar, k = this.classes;
    for (let i = first[r]; i < first[r + 1]; i++) {
      const s = symbols[i];
      if (s % 2) {
        for (let c = 0; c < k; c++) this.shares[r * k + c] += counts[i] * this.shares[((s - 1) / 2) * k + c];
      } else {
        this.shares[r * k + this.classOf[this.functions[s / 2]]] += counts[i] * this.duration(s / 2);
      }
    }
  }

  duration(t) { return this.durations ? this.durations[t] : 1; }
  gap(t) { return this.gaps ? this.gaps[t] : 0; }
  kind(t) { return this.kinds ? this.kinds[t] : Kind.whole; }
  ends(t) { return this.kind(t) === Kind.whole || this.kind(t) === Kind.last ? 1 : 0; }
  timeOf(s) { return this.grammar.sumOf(this.timeBefore, s, (t) => this.gap(t) + this.duration(t)); }
  partsOf(s) { return this.grammar.sumOf(this.grammar.callsBefore, s, () => 1); }
  endsOf(s) { return this.grammar.sumOf(this.endsBefore, s, (t) => this.ends(t)); }

  // descend finds the part of a call at which what is summed up, by the sums and what
  // a symbol adds, exceeds a value; the last one at the end. It returns its number,
  // its terminal, when the gap before it begins, and how many calls end before.
  descend(sums, of, value) {
    const { first, symbols, counts, callsBefore } = this.grammar;
    let r = this.grammar.length - 1;
    if (r < 0 || first[r] === first[r + 1]) return null;
    let part = 0, before = 0, ended = 0;
    for (;;) {
      const i = lastNotAbove(sums, value, first[r] + r, first[r + 1] + r - 1);
      value -= sums[i];
      part += callsBefore[i];
      before += this.timeBefore[i];
      ended += this.endsBefore[i];
      const s = symbols[i - r], unit = of(s);
      const n = unit > 0 ? Math.min(counts[i - r] - 1, Math.max(0, Math.floor(value / unit))) : 0;
      value -= n * unit;
      part += n * this.partsOf(s);
      before += n * this.timeOf(s);
      ended += n * this.endsOf(s);
      if (s % 2 === 0) return { part, terminal: s / 2, before, position: ended };
      r = (s - 1) / 2;
    }
  }

  // find returns the part that goes on at a time of the model, or the gap before it.
  find(time) { return this.descend(this.timeBefore, (s) => this.timeOf(s), time); }

  // at returns the part of a number.
  at(part) { return this.descend(this.grammar.callsBefore, (s) => this.partsOf(s), part); }

  // end returns the last part of the call at a position.
  end(position) { return this.descend(this.endsBefore, (s) => this.endsOf(s), position); }

  // ending returns the part, by steps of 1 or −1 from a part on, at which its call ends
  // or begins, null if that is too far.
  ending(from, step) {
    const [opens, closes] = step > 0 ? [Kind.first, Kind.last] : [Kind.last, Kind.first];
    const own = this.kind(from.terminal);
    if (own === Kind.whole || own === closes) return from;
    let depth = 0;
    for (let n = 1; n <= 20_000; n++) {
      const p = from.part + n * step;
      if (p < 0 || p >= this.parts) return null;
      const at = this.at(p), kind = this.kind(at.terminal);
      if (kind === closes && depth-- === 0) return at;
      if (kind === opens) depth++;
    }
    return null;
  }

  // draw hands what lies from a to b, in times of the model, to a sink: single calls
  // that are as wide as the sink can show, and blocks of what is narrower. Scale is
  // how wide a unit is.
  draw(a, b, scale, sink) {
    if (!(this.total > 0) || !(b > a)) return;
    const { first: begins, symbols, counts } = this.grammar, stack = [];
    const push = (rule, base, unit, first, last) => {
      const f = { rule, base, unit, n: first, last, t: base + first * unit, i: begins[rule] };
      const most = begins[rule + 1] - 1;
      if (a > f.t && most >= f.i) f.i = lastNotAbove(this.timeBefore, a - f.t, f.i + rule, most + rule) - rule;
      stack.push(f);
    };
    push(this.grammar.length - 1, 0, this.total, 0, 0);
    while (stack.length > 0) {
      const f = stack[stack.length - 1];
      const start = f.i < begins[f.rule + 1] ? f.t + this.timeBefore[f.i + f.rule] : Infinity;
      if (start >= b) {
        if (f.n < f.last && start === Infinity) {
          f.n++;
          f.t = f.base + f.n * f.unit;
          f.i = begins[f.rule];
        } else {
          stack.pop();
        }
        continue;
      }
      const s = symbols[f.i], count = counts[f.i];
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
    if (s % 2) return this.shares[((s - 1) / 2) * this.classes + kind] / time;
    return this.classOf[this.functions[s / 2]] === kind ? this.duration(s / 2) / time : 0;
  }
}

// lastNotAbove returns the last index from low to high at which an ascending list is
// not above a value, low if there is none.
function lastNotAbove(list, value, low, high) {
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (list[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

// A Clock turns times of the model of a rank into times of its clock and back. It
// is exact at anchors: edge 2p is the start of part p of its calls, edge 2p+1 its end.
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
    const i = lastNotAbove(from, value, 0, from.length - 2), width = from[i + 1] - from[i];
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
  at(position) { return this.timed(this.program.end(position)); }

  // timed returns the call of a part. If it goes on too far from there, it starts or
  // ends no later or earlier than is told, which is partial, and its position is that
  // of a call in it.
  timed(part) {
    if (!part) return null;
    const { program } = this, first = program.ending(part, -1), last = program.ending(part, 1);
    const a = first || part, b = last || part;
    const start = this.toReal(a.before + program.gap(a.terminal));
    const end = this.toReal(b.before + program.gap(b.terminal) + program.duration(b.terminal));
    return { position: b.position, terminal: b.terminal, start, duration: end - start, partial: !first || !last };
  }

  // draw hands what lies from time a to time b to a sink, which takes times of the
  // model and is told how these become places: x(m) = m·sink.scale + sink.offset.
  draw(a, b, left, scale, sink) {
    for (let i = a > this.real[0] ? lastNotAbove(this.real, a, 0, this.real.length - 2) : 0; i < this.model.length - 1; i++) {
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
