// Rows of which only sums over spans of time are known, and rows as they are drawn.

const classes = 16; // of functions: those of most time, and all others

// Bins are how much time goes by in calls of each class in spans of one width, from a time
// to another, and how many calls begin there: bin by bin, of all classes.
class Bins {
  constructor({ from, to, width, times, counts }) {
    Object.assign(this, { start: from, end: to, width, grain: width, times, counts, rough: true });
    this.length = times.length / classes;
  }

  // unpack returns the bins that bytes have, from 0 to a span.
  static unpack(bytes, bins, span) {
    const read = new Varints(bytes), times = new Float64Array(bins * classes), counts = new Float64Array(bins * classes);
    for (let i = 0; i < bins; i++) {
      for (let there = read.unsigned(), k = 0; there > 0; there = Math.floor(there / 2), k++) {
        if (there % 2 === 0) continue;
        times[i * classes + k] = read.unsigned();
        counts[i * classes + k] = read.unsigned();
      }
    }
    return new Bins({ from: 0, to: span, width: Math.floor(span / bins) + 1, times, counts });
  }

  // find returns what is known of a time: the bin that it is in.
  find(time) {
    const bin = Math.floor((time - this.start) / this.width), at = bin * classes;
    if (bin < 0 || bin >= this.length) return null;
    const sum = (list) => list.slice(at, at + classes).reduce((a, b) => a + b, 0), start = this.start + bin * this.width;
    return { bin, start, duration: Math.min(this.width, this.end - start), calls: sum(this.counts), time: sum(this.times) };
  }

  at() { return null; }
  next() { return -1; }

  // within hands on, of each class, the calls that begin in the bins between two times, and
  // the time there.
  within(from, to, take) {
    const bin = (t) => (t - this.start) / this.width;
    const low = Math.max(0, Math.floor(bin(from))), high = Math.min(this.length, Math.ceil(bin(to)));
    for (let c = 0; c < classes; c++) {
      let calls = 0, time = 0;
      for (let i = low; i < high; i++) {
        calls += this.counts[i * classes + c];
        time += this.times[i * classes + c];
      }
      if (calls > 0 || time > 0) take(c, calls, time);
    }
  }

  draw(a, b, row) {
    const scale = row.width / (b - a), last = Math.min(this.length - 1, Math.floor((b - this.start) / this.width));
    for (let bin = Math.max(0, Math.floor((a - this.start) / this.width)); bin <= last; bin++) {
      const from = this.start + bin * this.width, to = Math.min(from + this.width, this.end);
      for (let c = 0; c < classes; c++) row.weights[c] = this.times[bin * classes + c] / (to - from);
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

  // dominate gives each column to what takes most of its time, which may be nothing.
  dominate() {
    const n = this.classes;
    for (let i = 0; i < this.columns; i++) {
      let most = -1, sum = 0;
      for (let k = 0; k < n; k++) {
        sum += this.sums[i * n + k];
        if (this.sums[i * n + k] > 0 && (most < 0 || this.sums[i * n + k] > this.sums[i * n + most])) most = k;
      }
      const share = most < 0 ? 0 : this.sums[i * n + most];
      this.sums.fill(0, i * n, i * n + n);
      if (share > Math.max(0, 1 - sum)) this.sums[i * n + most] = 1;
    }
  }

  // add adds times to a column, which is so long.
  add(column, times, length) {
    if (column >= this.columns) return;
    for (let k = 0; k < this.classes; k++) this.sums[column * this.classes + k] += times[k] / length;
  }

  // finish makes rectangles of the columns, one of neighbours that are as high. What is
  // there at all is seen, if the row is high enough; in a row that is too low for several
  // colours, that of what takes most time.
  finish() {
    if (this.height < 8) this.dominate();
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
