// The calls of a rank in compressed form: a grammar, read without expanding it.
// What is drawn costs what can be seen, whatever the number of calls.

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

  // expand returns the terminals of all calls.
  expand() {
    const { first, symbols, counts } = this, start = this.length - 1;
    const lengthOf = (r) => this.callsBefore[first[r + 1] + r];
    if (start < 0) return new Int32Array(0);
    const out = new Int32Array(lengthOf(start)), where = new Int32Array(this.length).fill(-1); // a copy of each rule
    const stack = [{ rule: start, i: first[start], from: 0, written: 0 }];
    let at = 0;
    while (stack.length > 0) {
      const f = stack[stack.length - 1];
      if (f.i === first[f.rule + 1]) {
        where[f.rule] = f.from;
        stack.pop();
        continue;
      }
      const s = symbols[f.i], n = counts[f.i], rule = (s - 1) / 2;
      if (s % 2 === 0) {
        out.fill(s / 2, at, at + n);
        at += n;
        f.i++;
      } else if (where[rule] < 0) {
        f.written = 1;
        stack.push({ rule, i: first[rule], from: at, written: 0 });
      } else {
        for (let k = f.written; k < n; k++, at += lengthOf(rule)) out.copyWithin(at, where[rule], where[rule] + lengthOf(rule));
        f.written = 0;
        f.i++;
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
// begins after a gap.
class Program {
  constructor(grammar, { functions, signatures, durations, gaps, threads, of, classOf, classes }) {
    this.grammar = grammar;
    this.functions = functions; // of each terminal
    this.signatures = signatures; // likewise
    this.durations = durations; // null: each call takes 1
    this.gaps = gaps; // null: none
    this.threads = threads; // of each terminal; null: all are of one
    this.of = of; // of how many calls a duration is the mean
    this.classOf = classOf; // of each function
    this.classes = classes; // number of them
    this.timeBefore = grammar.sums((t) => this.gap(t) + this.duration(t));
    this.shares = new Float64Array(grammar.length * classes); // time in calls of each class
    for (let r = 0; r < grammar.length; r++) this.addShares(r);
    const total = (sums) => (grammar.length > 0 ? sums[sums.length - 1] : 0);
    this.calls = total(grammar.callsBefore);
    this.total = total(this.timeBefore);
  }

  classOfCall(t) { return this.classOf[this.functions[t]]; }

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
  timeOf(s) { return this.grammar.sumOf(this.timeBefore, s, (t) => this.gap(t) + this.duration(t)); }
  callsOf(s) { return this.grammar.sumOf(this.grammar.callsBefore, s, () => 1); }

  // descend finds the call at which what is summed up, by the sums and what a symbol
  // adds, exceeds a value; the last one at the end. It returns its position, its
  // terminal, and when the gap before it begins.
  descend(sums, of, value) {
    const { first, symbols, counts, callsBefore } = this.grammar;
    let r = this.grammar.length - 1;
    if (r < 0 || first[r] === first[r + 1]) return null;
    let position = 0, before = 0;
    for (;;) {
      const i = lastNotAbove(sums, value, first[r] + r, first[r + 1] + r - 1);
      value -= sums[i];
      position += callsBefore[i];
      before += this.timeBefore[i];
      const s = symbols[i - r], unit = of(s);
      const n = unit > 0 ? Math.min(counts[i - r] - 1, Math.max(0, Math.floor(value / unit))) : 0;
      value -= n * unit;
      position += n * this.callsOf(s);
      before += n * this.timeOf(s);
      if (s % 2 === 0) return { position, terminal: s / 2, before };
      r = (s - 1) / 2;
    }
  }

  // find returns the call that goes on at a time of the model, or the gap before it.
  find(time) { return this.descend(this.timeBefore, (s) => this.timeOf(s), time); }

  // at returns the call at a position.
  at(position) { return this.descend(this.grammar.callsBefore, (s) => this.callsOf(s), position); }

  // next returns the position of the first call, from a position on, of those that keep
  // holds for, −1 if there is none; with step −1 of the last before it.
  next(position, step, keep) {
    const sums = this.grammar.sums((t) => (keep(t) ? 1 : 0)), of = (s) => this.grammar.sumOf(sums, s, (t) => (keep(t) ? 1 : 0));
    const all = sums.length > 0 ? sums[sums.length - 1] : 0;
    const number = this.before(sums, of, Math.min(position, this.calls)) - (step < 0 ? 1 : 0);
    if (number < 0 || number >= all) return -1;
    return this.descend(sums, of, number).position;
  }

  // before returns how much the calls before a position add to sums.
  before(sums, of, position) {
    const { first, symbols, counts, callsBefore } = this.grammar;
    let r = this.grammar.length - 1, sum = 0;
    if (position >= this.calls) return sums.length > 0 ? sums[sums.length - 1] : 0;
    for (;;) {
      const i = lastNotAbove(callsBefore, position, first[r] + r, first[r + 1] + r - 1);
      position -= callsBefore[i];
      sum += sums[i];
      const s = symbols[i - r], n = Math.min(counts[i - r] - 1, Math.floor(position / this.callsOf(s)));
      position -= n * this.callsOf(s);
      sum += n * of(s);
      if (s % 2 === 0) return sum;
      r = (s - 1) / 2;
    }
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
      const gap = this.gap(s / 2), took = this.duration(s / 2), kind = this.classOfCall(s / 2);
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
    return this.classOfCall(s / 2) === kind ? this.duration(s / 2) / time : 0;
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

// An Estimate is the calls of a rank as a program has them, on a clock: it turns times of
// the model into times of the clock and back. It is exact at anchors: edge 2p is the start
// of call p, edge 2p+1 its end.
class Estimate {
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
    this.rough = Boolean(program.durations); // without times, positions are exact
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

  toReal(m) { return Estimate.map(this.model, this.real, m); }
  toModel(t) { return Estimate.map(this.real, this.model, t); }

  // grain is the width of the shortest calls, with the gaps before them.
  get grain() {
    const p = this.program;
    let least = Infinity;
    for (let t = 0; t < p.functions.length; t++) {
      const width = p.gap(t) + p.duration(t);
      if (width > 0) least = Math.min(least, width);
    }
    return least;
  }

  // find returns the call of a time, or the one that follows if there is none.
  find(time) { return time > this.end ? null : this.timed(this.program.find(this.toModel(time))); }

  // at returns the call at a position.
  at(position) { return this.timed(this.program.at(position)); }

  timed(call) {
    if (!call) return null;
    const { program } = this, begins = call.before + program.gap(call.terminal);
    const start = this.toReal(begins), end = this.toReal(begins + program.duration(call.terminal));
    return { position: call.position, terminal: call.terminal, start, duration: end - start, mean: this.rough ? program.duration(call.terminal) : undefined };
  }

  next(position, step, keep) { return this.program.next(position, step, keep); }

  // within hands on, of each function, about how many calls are between two times, and how
  // long they take.
  within(from, to, take) {
    const p = this.program, position = (t) => this.program.find(this.toModel(t)).position;
    const first = from <= this.start ? 0 : position(from), last = to >= this.end ? p.calls : position(to) + 1;
    for (const f of new Set(p.functions)) {
      const amount = (weight) => {
        const w = (t) => (p.functions[t] === f ? weight(t) : 0), sums = p.grammar.sums(w), of = (s) => p.grammar.sumOf(sums, s, w);
        return p.before(sums, of, last) - p.before(sums, of, first);
      };
      const calls = amount(() => 1);
      if (calls > 0) take(f, calls, amount((t) => p.duration(t)));
    }
  }

  // draw draws what lies from time a to time b into a row.
  draw(a, b, row) {
    const scale = row.width / (b - a);
    for (let i = a > this.real[0] ? lastNotAbove(this.real, a, 0, this.real.length - 2) : 0; i < this.model.length - 1; i++) {
      const from = Math.max(a, this.real[i]), to = Math.min(b, this.real[i + 1]);
      if (this.real[i] >= b) break;
      const width = this.model[i + 1] - this.model[i];
      if (!(to > from) || !(width > 0)) continue;
      const rate = (this.real[i + 1] - this.real[i]) / width;
      row.scale = rate * scale;
      row.offset = row.left + (this.real[i] - a) * scale - this.model[i] * row.scale;
      const m = (t) => this.model[i] + (t - this.real[i]) / rate;
      this.program.draw(m(from), m(to), row.scale, row);
    }
  }
}
