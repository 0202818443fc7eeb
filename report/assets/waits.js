// Calls that waited for other ranks: for which, how, and how long from their start on.

// Waits are those of a row, by the positions of their calls in ascending order.
class Waits {
  // unpack returns the waits that bytes have: deltas of positions, kinds, times and ranks, each of all.
  static unpack(bytes) {
    const read = new Varints(bytes), n = read.unsigned(), column = () => Float64Array.from({ length: n }, () => read.unsigned());
    const [positions, kinds, times, ranks] = [column(), column(), column(), column()];
    for (let i = 1; i < n; i++) positions[i] += positions[i - 1];
    return { positions, kinds, times, ranks };
  }

  // A row has those of its calls, which may be those of a thread.
  constructor({ positions, kinds, times, ranks }, calls) {
    const list = [...positions.keys()].filter((i) => calls.at(positions[i]));
    const some = (from) => Float64Array.from(list, (i) => from[i]);
    Object.assign(this, { positions: some(positions), kinds: some(kinds), times: some(times), ranks: some(ranks), calls });
    this.starts = this.positions.map((p) => calls.at(p).start);
    this.length = this.positions.length;
  }

  wait(i) { return { position: this.positions[i], kind: this.kinds[i], start: this.starts[i], time: this.times[i], rank: this.ranks[i] }; }

  // of returns how the call at a position waited, null if it did not.
  of(position) {
    if (this.length === 0) return null;
    const i = lastNotAbove(this.positions, position, 0, this.length - 1);
    return this.positions[i] === position ? this.wait(i) : null;
  }

  // within hands on the waits between two times.
  within(from, to, take) {
    for (let i = 0; i < this.length; i++) {
      if (this.starts[i] < to && this.starts[i] + this.times[i] > from) take(this.wait(i));
    }
  }

  // track returns the calls with what they wait as a call of its kind: terminal 0 is the rest of a call.
  track() {
    const { calls } = this, terminals = [], starts = [], durations = [], positions = [];
    const add = (terminal, start, duration, position) => {
      terminals.push(terminal);
      starts.push(start);
      durations.push(duration);
      positions.push(position);
    };
    for (let i = 0, k = 0; i < calls.length; i++) {
      const { position, start, duration } = calls.call(i);
      const waited = this.positions[k] === position ? this.wait(k++) : null, time = waited ? waited.time : 0;
      if (waited) add(1 + waited.kind, start, time, position);
      if (duration > time || !waited) add(0, start + time, duration - time, position);
    }
    return new Calls({ terminals: Int32Array.from(terminals), starts: Float64Array.from(starts), durations: Float64Array.from(durations), positions: Float64Array.from(positions) },
      Array.from({ length: classes }, (_, i) => i), classes);
  }
}

// A Together is a track of which all calls are of one class.
class Together {
  constructor(track) { this.track = track; }

  draw(a, b, row) {
    const own = new SumRow(classes, row.top, row.height, row.left, row.width, null);
    this.track.draw(a, b, own);
    own.sums.forEach((share, i) => { row.sums[i - i % classes] += share; });
  }
}

// stateColor returns the colour of a kind of wait, on a dark ground or a light one.
function stateColor(kind, dark) {
  const [hue, saturation, light] = {
    'late sender': [4, 72, 50], 'wrong order': [332, 62, 40], 'late receiver': [28, 88, 46], 'wait at barrier': [268, 50, 52],
    'wait at NxN': [222, 68, 50], 'late root': [188, 75, 34], 'early root': [158, 58, 34], 'early scan': [92, 48, 38],
    'wait at fence': [48, 85, 44], 'late post': [205, 85, 62], 'late complete': [300, 45, 62], 'late neighbor': [90, 60, 38],
    'lock contention': [15, 45, 36],
  }[kind] || [0, 0, 40];
  return `hsl(${hue}, ${saturation}%, ${light + (dark ? 9 : 0)}%)`;
}
