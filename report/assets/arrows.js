// The messages between the ranks of a timeline, as arrows from call to call.

// Arrows finds the messages of a call: rows are those of the data of the timeline.
class Arrows {
  constructor(bytes) {
    const read = new Varints(bytes), n = (this.length = read.unsigned());
    const column = () => Float64Array.from({ length: n }, () => read.signed());
    const [from, sent, to, received, done] = [column(), column(), column(), column(), column()];
    const before = new Map();
    for (let i = 0; i < n; i++) {
      const same = i > 0 && from[i] === 0;
      if (i > 0) {
        from[i] += from[i - 1];
        to[i] += to[i - 1];
        if (same) sent[i] += sent[i - 1];
      }
      const pair = from[i] * 65536 + to[i];
      received[i] += before.get(pair) || 0;
      before.set(pair, received[i]);
      done[i] += received[i];
    }
    Object.assign(this, { from, sent, to, received, done });
    this.calls = new Map(); // arrows by row and position of a call
    const add = (row, position, i) => {
      const key = row * 2 ** 40 + position, list = this.calls.get(key);
      if (!list) this.calls.set(key, [i]);
      else if (!list.includes(i)) list.push(i);
    };
    for (let i = 0; i < n; i++) {
      add(from[i], sent[i], i);
      add(to[i], received[i], i);
      add(to[i], done[i], i);
    }
  }

  // of returns the messages of a call, at most so many: whether it sends them, and the calls
  // of both sides.
  of(row, position, most) {
    return (this.calls.get(row * 2 ** 40 + position) || []).slice(0, most).map((i) => ({
      sends: this.from[i] === row && this.sent[i] === position,
      from: this.from[i], sent: this.sent[i], to: this.to[i], received: this.received[i], done: this.done[i],
    }));
  }
}
