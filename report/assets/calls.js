// The calls of a row of which all times are known.

// inflate returns what base64 has of deflated bytes.
async function inflate(text) {
  const packed = atob(text), bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Varints reads numbers from bytes, seven bits of each.
class Varints {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  unsigned() {
    let v = 0, unit = 1;
    for (;;) {
      const b = this.bytes[this.at++];
      v += (b & 127) * unit;
      if (!(b & 128)) return v;
      unit *= 128;
    }
  }

  signed() {
    const v = this.unsigned();
    return v % 2 ? -(v + 1) / 2 : v / 2;
  }
}

// unpackCalls returns the calls of a program with times that were packed, in order: gaps
// of all terminals, then durations, each in the order of the calls.
function unpackCalls(program, bytes) {
  const terminals = program.grammar.expand(), n = terminals.length, kinds = program.functions.length;
  const from = new Int32Array(kinds + 1);
  for (let i = 0; i < n; i++) from[terminals[i] + 1]++;
  for (let t = 0; t < kinds; t++) from[t + 1] += from[t];
  const read = new Varints(bytes), gaps = new Float64Array(n), took = new Float64Array(n);
  for (let i = 0; i < n; i++) gaps[i] = read.signed();
  for (let i = 0; i < n; i++) took[i] = read.unsigned();
  const starts = new Float64Array(n), durations = new Float64Array(n);
  for (let i = 0, end = 0; i < n; i++) {
    const k = from[terminals[i]]++;
    starts[i] = end + gaps[k];
    durations[i] = took[k];
    end = starts[i] + durations[i];
  }
  return { terminals, starts, durations };
}

// Calls are those of a row, in the order in which they returned: of a thread, or of a rank
// with one. They are drawn as pieces: where a call contains others, these are in front.
class Calls {
  constructor({ terminals, starts, durations, positions, first }, classOf, classes) {
    Object.assign(this, { terminals, starts, durations, positions, firstPosition: first || 0, classOf, classes, rough: false, grain: 0 });
    this.length = terminals.length;
    this.arrange();
    this.sum();
    this.start = this.length > 0 ? this.pieceStarts[0] : 0;
    this.end = 0;
    for (let i = 0; i < this.length; i++) this.end = Math.max(this.end, starts[i] + durations[i]);
  }

  position(i) { return this.positions ? this.positions[i] : this.firstPosition + i; }

  // index returns which call has a position, or comes first after it.
  index(position) {
    if (!this.positions) return Math.max(0, Math.min(this.length, position - this.firstPosition));
    const i = this.length > 0 ? lastNotAbove(this.positions, position, 0, this.length - 1) : 0;
    return i < this.length && this.positions[i] < position ? i + 1 : i;
  }

  // arrange makes pieces that do not overlap: where calls do, those in front.
  arrange() {
    const { starts, durations, length: n } = this;
    let apart = true;
    for (let i = 1; i < n && apart; i++) apart = starts[i] >= starts[i - 1] + durations[i - 1];
    if (apart) {
      this.pieceStarts = starts;
      this.pieceEnds = starts.map((s, i) => s + durations[i]);
      this.pieceCalls = null; // piece i is call i
      return;
    }
    const begins = [], ends = [], calls = [], open = []; // calls that contain the ones to come
    let from = Infinity; // pieces from there on are known
    const emit = (start, call) => {
      begins.push(start);
      ends.push(from);
      calls.push(call);
      from = start;
    };
    const begin = () => {
      const outer = open.pop();
      emit(outer.start, outer.call);
    };
    for (let i = n - 1; i >= 0; i--) {
      let end = Math.min(starts[i] + durations[i], from), start = starts[i];
      while (open.length > 0 && (open[open.length - 1].start >= end || open[open.length - 1].start > start)) {
        end = Math.min(end, open[open.length - 1].start);
        begin();
      }
      start = Math.min(start, end);
      if (open.length > 0 && from > end) emit(end, open[open.length - 1].call);
      from = end;
      open.push({ start, call: i });
    }
    while (open.length > 0) begin();
    this.pieceStarts = Float64Array.from(begins.reverse());
    this.pieceEnds = Float64Array.from(ends.reverse());
    this.pieceCalls = Int32Array.from(calls.reverse());
  }

  callOf(piece) { return this.pieceCalls ? this.pieceCalls[piece] : piece; }
  classAt(piece) { return this.classOf[this.terminals[this.callOf(piece)]]; }

  // sum sums up the time in each class before every 32nd piece.
  sum() {
    const k = this.classes, n = this.pieceStarts.length;
    this.sums = new Float64Array((Math.floor(n / 32) + 1) * k);
    const sum = new Float64Array(k);
    for (let i = 0; i < n; i++) {
      if (i % 32 === 0) this.sums.set(sum, i / 32 * k);
      sum[this.classAt(i)] += this.pieceEnds[i] - this.pieceStarts[i];
    }
    if (n % 32 === 0) this.sums.set(sum, n / 32 * k);
  }

  // until adds the time in each class before a time to out, times a sign. Piece is the last
  // that began by then.
  until(time, piece, out, sign) {
    const k = this.classes, from = Math.floor(piece / 32);
    for (let c = 0; c < k; c++) out[c] += sign * this.sums[from * k + c];
    for (let i = from * 32; i < piece; i++) out[this.classAt(i)] += sign * (this.pieceEnds[i] - this.pieceStarts[i]);
    if (time > this.pieceStarts[piece]) out[this.classAt(piece)] += sign * (Math.min(time, this.pieceEnds[piece]) - this.pieceStarts[piece]);
  }

  // call returns the i-th call.
  call(i) {
    return { position: this.position(i), terminal: this.terminals[i], start: this.starts[i], duration: this.durations[i] };
  }

  // at returns the call at a position.
  at(position) {
    const i = this.index(position);
    return i < this.length && this.position(i) === position ? this.call(i) : null;
  }

  // find returns the call of a time, or the one that follows if there is none.
  find(time) {
    const n = this.pieceStarts.length;
    if (n === 0 || time > this.end) return null;
    let i = lastNotAbove(this.pieceStarts, time, 0, n - 1);
    if (this.pieceStarts[i] <= time && time > this.pieceEnds[i]) i++;
    return i < n ? this.call(this.callOf(i)) : null;
  }

  // next returns the position of the first call, from a position on, of a terminal that keep
  // holds for, −1 if there is none; with step −1 of the last before it.
  next(position, step, keep) {
    let i = this.index(position);
    if (step < 0) i--;
    while (i >= 0 && i < this.length && !keep(this.terminals[i])) i += step;
    return i >= 0 && i < this.length ? this.position(i) : -1;
  }

  // within hands on the calls between two times, with how much of their time is there.
  within(from, to, take) {
    const { starts, durations } = this;
    for (let i = 0; i < this.length; i++) {
      const end = starts[i] + durations[i];
      if (starts[i] < to && (starts[i] >= from || end > from)) take(this.terminals[i], Math.max(0, Math.min(end, to) - Math.max(starts[i], from)), i);
    }
  }

  // draw draws what lies from time a to time b into a row: calls that are wide enough as
  // they are, and of others how the time of each column is shared.
  draw(a, b, row) {
    const n = this.pieceStarts.length, scale = row.width / (b - a), sum = row.weights;
    if (n === 0) return;
    const x = (t) => row.left + (t - a) * scale, narrow = row.narrow / scale;
    let i = lastNotAbove(this.pieceStarts, a, 0, n - 1);
    for (let t = Math.max(a, this.pieceStarts[i]); t < b;) {
      if (i + 1 < n && this.pieceStarts[i + 1] <= t) i = lastNotAbove(this.pieceStarts, t, i, n - 1);
      if (t >= this.pieceEnds[i]) {
        if (i + 1 === n) return;
        if (this.pieceStarts[i + 1] > t) t = this.pieceStarts[++i];
        continue;
      }
      if (this.pieceEnds[i] - t >= narrow) {
        row.rect(x(t), Math.min(row.right, x(this.pieceEnds[i])), this.classAt(i), this.terminals[this.callOf(i)]);
        t = this.pieceEnds[i];
        continue;
      }
      const column = Math.floor((x(t) - row.left) / row.column + 1e-9) + 1;
      const next = Math.max(Math.min(b, a + column * row.column / scale), t + Number.EPSILON * Math.abs(t) * 4);
      const last = lastNotAbove(this.pieceStarts, next, i, n - 1);
      sum.fill(0);
      this.until(next, last, sum, 1);
      this.until(t, i, sum, -1);
      row.add(column - 1, sum, row.column / scale);
      t = next;
      i = last;
    }
  }
}
