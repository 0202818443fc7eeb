// Rows of which only sums over spans of time are known, and rows as they are drawn.

// Bins are how much time goes by in calls of each class in spans of one length, and how
// many calls begin there.
class Bins {
  constructor(bytes, bins, span, classes) {
    const read = new Varints(bytes);
    Object.assign(this, { bins, classes, start: 0, end: span, rough: true });
    this.width = Math.floor(span / bins) + 1;
    this.grain = this.width;
    this.times = new Float64Array(bins * classes);
    this.counts = new Float64Array(bins * classes);
    for (let i = 0; i < bins; i++) {
      for (let there = read.unsigned(), k = 0; there > 0; there = Math.floor(there / 2), k++) {
        if (there % 2 === 0) continue;
        this.times[i * classes + k] = read.unsigned();
        this.counts[i * classes + k] = read.unsigned();
      }
    }
  }

  // find returns what is known of a time: the bin that it is in.
  find(time) {
    const bin = Math.floor(time / this.width), k = this.classes;
    if (bin < 0 || bin >= this.bins) return null;
    const sum = (list) => list.slice(bin * k, bin * k + k).reduce((a, b) => a + b, 0);
    return { bin, start: bin * this.width, duration: Math.min(this.width, this.end - bin * this.width), calls: sum(this.counts), time: sum(this.times) };
  }

  at() { return null; }
  next() { return -1; }

  // within hands on, of each class, the calls that begin in the bins between two times, and
  // the time there.
  within(from, to, take) {
    const k = this.classes, low = Math.max(0, Math.floor(from / this.width)), high = Math.min(this.bins, Math.ceil(to / this.width));
    for (let c = 0; c < k; c++) {
      let calls = 0, time = 0;
      for (let bin = low; bin < high; bin++) {
        calls += this.counts[bin * k + c];
        time += this.times[bin * k + c];
      }
      if (calls > 0 || time > 0) take(c, calls, time);
    }
  }

  draw(a, b, row) {
    const scale = row.width / (b - a), k = this.classes;
    const last = Math.min(this.bins - 1, Math.floor(b / this.width));
    for (let bin = Math.max(0, Math.floor(a / this.width)); bin <= last; bin++) {
      const from = bin * this.width, to = Math.min(from + this.width, this.end);
      for (let c = 0; c < k; c++) row.weights[c] = this.times[bin * k + c] / (to - from);
      row.fill(Math.max(row.left, row.left + (from - a) * scale), Math.min(row.right, row.left + (to - a) * scale));
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
    Object.assign(this, { classes, top, height, left, width, right: left + width, rects, labels: [] });
    this.offset = 0;
    this.scale = 1;
    this.column = 2; // width
    this.columns = Math.ceil(width / this.column);
    this.sums = new Float64Array(this.columns * classes);
    this.weights = new Float64Array(classes);
  }

  // x returns the place of a time of a model.
  x(m) { return Math.max(this.left, Math.min(this.right, m * this.scale + this.offset)); }

  // block is what a model has of calls that are too narrow to be seen.
  block(a, b, program, s) {
    for (let k = 0; k < this.classes; k++) this.weights[k] = program.share(s, k);
    this.fill(this.x(a), this.x(b));
  }

  // call is a call of a model.
  call(a, b, kind, terminal) {
    const x0 = this.x(a), x1 = this.x(b);
    if (x1 - x0 >= this.narrow) {
      this.rect(x0, x1, kind, terminal);
      return;
    }
    this.weights.fill(0);
    this.weights[kind] = 1;
    this.fill(x0, x1);
  }

  rect(x0, x1, kind, terminal) {
    const width = x1 - x0;
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

  // add adds times to a column, which is so long.
  add(column, times, length) {
    if (column >= this.columns) return;
    for (let k = 0; k < this.classes; k++) this.sums[column * this.classes + k] += times[k] / length;
  }

  // finish makes rectangles of the columns, one of neighbours that are as high. What is
  // there at all is seen, if the row is high enough.
  finish() {
    const n = this.classes, least = this.height > 8 ? 0.75 : 0.05, equal = (i, j) => {
      for (let k = 0; k < n; k++) if (Math.abs(this.sums[i * n + k] - this.sums[j * n + k]) > 0.01) return false;
      return true;
    };
    for (let i = 0, j; i < this.columns; i = j) {
      for (j = i + 1; j < this.columns && equal(i, j); j++);
      let y = this.top + this.height;
      for (let k = 0; k < n; k++) {
        const share = this.sums[i * n + k];
        if (!(share > 1e-9)) continue;
        const h = Math.min(Math.max(share * this.height, least), y - this.top);
        if (h <= 0.05) continue;
        y -= h;
        this.rects[k].push(this.left + i * this.column, y, Math.min(this.right - this.left, j * this.column) - i * this.column, h);
      }
    }
  }
}
