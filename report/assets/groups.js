// Groups of rows, with headings that fold. Of a group that is folded one row is shown, which
// sums up those of its ranks.

const unknown = -2; // the key of rows that nothing is known of
const maxGroups = 64, maxUnfolded = 32; // rows of groups that are unfolded if nobody chooses

// A SumRow sums up in columns all that is drawn into it, wide calls, too.
class SumRow extends Row {
  rect(x0, x1, kind) {
    this.weights.fill(0);
    this.weights[kind] = 1;
    this.fill(x0, x1);
  }

  divide(n) { for (let i = 0; i < this.sums.length; i++) this.sums[i] /= n; }
}

// timesOf returns how much of the time from a to b a track is in calls of each class, null if
// that is not known.
function timesOf(track, a, b) {
  const known = track.known ? track.known(a, b) : track, out = new Float64Array(classes);
  if (!known) return null;
  const row = new SumRow(classes, 0, 1, 0, 512, null);
  known.draw(a, b, row);
  row.sums.forEach((share, i) => { out[i % classes] += share * (b - a) / row.columns; });
  return out;
}

// A GroupTrack is the rows of a group as one.
class GroupTrack {
  constructor(rows) { Object.assign(this, { rows, rough: true }); }

  get start() { return Math.min(...this.rows.map((r) => r.track.start)); }
  get end() { return Math.max(...this.rows.map((r) => r.track.end)); }

  at() { return null; }
  next() { return -1; }

  // grain returns how wide the spans are of which sums are known at a time, 0 for single calls.
  grain(time) {
    return Math.max(...this.rows.map(({ track }) => {
      const known = track.known ? track.known(time, time) : track;
      return known instanceof Bins ? known.width : 0;
    }));
  }

  // draw draws the mean of the rows of which something is known.
  draw(a, b, row) {
    const rows = this.rows.filter(({ track }) => !track.known || track.known(a, b));
    for (const r of rows) r.track.draw(a, b, row);
    if (rows.length > 0) row.divide(rows.length);
  }
}

// A Group is rows that have something in common.
class Group {
  constructor(key, name) {
    Object.assign(this, { key, name, rows: [], folded: false, top: 0 });
    this.row = { group: this, track: new GroupTrack(this.rows), program: null };
  }

  get ranks() { return [...new Set(this.rows.map((r) => r.rank))].sort((a, b) => a - b); }

  // size says how many ranks there are, and threads if rows are these.
  get size() {
    const n = this.ranks.length, count = (k, what) => `${formatCount(k)} ${what}${k === 1 ? '' : 's'}`;
    return count(n, 'rank') + (this.rows.some((r) => r.thread !== undefined) ? `, ${count(this.rows.length, 'thread')}` : '');
  }

  // sum returns how much time all rows together are in calls of each class from one time to
  // another, and of how many rows that is known.
  sum(from, to) {
    const times = new Float64Array(classes), all = this.rows.map((r) => timesOf(r.track, from, to)).filter(Boolean);
    for (const list of all) list.forEach((time, k) => { times[k] += time; });
    return { times, known: all.length };
  }

  // around returns the span that a place on the screen stands for, of so much time, or the
  // spans of which sums are known that it is in.
  around(time, low, width, max) {
    const grain = this.row.track.grain(time), from = low + Math.floor((time - low) / width) * width;
    if (grain === 0) return [from, from + width];
    return [Math.floor(from / grain) * grain, Math.min(Math.ceil((from + width) / grain) * grain, max)];
  }

  // rough reports whether sums between two times are not exact.
  rough(from, to) {
    return this.rows.some(({ track }) => (track.known ? track.known(from, to) instanceof Bins : track.rough && !(track instanceof Bins)));
  }
}

// rangesOf writes ascending numbers as ranges.
function rangesOf(list) {
  const out = [];
  for (let i = 0, j; i < list.length; i = j) {
    for (j = i + 1; j < list.length && list[j] === list[j - 1] + 1; j++);
    out.push(j === i + 1 ? `${list[i]}` : `${list[i]}${j === i + 2 ? ', ' : '–'}${list[j - 1]}`);
  }
  return out.join(', ');
}

// Groups makes groups of the rows of a timeline.
class Groups {
  constructor(timeline) {
    Object.assign(this, { timeline, kind: 'none', folded: new Set(), list: [], homes: new Map(), buttons: new Map() });
    const quarters = ['less than a quarter', 'a quarter to a half', 'a half to three quarters', 'more than three quarters'];
    this.kinds = { // the key of a row, undefined if it is not known yet, and the name of a group
      flow: { title: 'control flow', of: (r) => r.shape, name: (k) => `Shape ${k}` },
      world: { title: 'world', of: (r) => (timeline.data.worlds || []).filter((first, i) => i > 0 && first <= r.rank).length, name: (k) => `world${k}` },
      node: { title: 'node', of: (r) => timeline.nodeOf(r.rank), name: (k) => (k < 0 ? 'Node not known' : `Node ${k}`) },
      most: {
        title: timeline.timed ? 'function of most time' : 'function of most calls', of: (r) => this.longest(r),
        name: (k) => (k < 0 ? 'In no call' : `Most ${timeline.timed ? 'time in' : 'calls of'} ${timeline.classNamed(k)}`),
      },
      share: { title: 'share in calls', of: (r) => this.quarter(r), name: (k) => `In calls for ${quarters[k]} of the time` },
      block: { title: 'blocks of ranks', of: (r) => Math.floor(r.rank / this.block), name: (k) => this.blockNamed(k) },
      rank: { title: 'rank', of: (r) => r.rank, name: (k) => `Rank ${k}` },
    };
  }

  // blockNamed returns the name of a block of ranks, which may be cut off by the last rank.
  blockNamed(k) {
    const first = k * this.block, last = Math.min(this.last, first + this.block - 1);
    return first < last ? `Ranks ${first}–${last}` : `Rank ${first}`;
  }

  // whole returns how much time a row is in calls of each class, null if that is not known yet.
  whole(r) {
    const track = r.remote ? r.track.whole : r.track, { min, max } = this.timeline.span;
    if (!r.times && track) r.times = timesOf(track, min, max);
    return r.times || null;
  }

  // longest returns the class that most time of a row is in, −1 if it is in no call.
  longest(r) {
    const times = this.whole(r);
    return times ? times.reduce((most, time, k) => (time > (most < 0 ? 0 : times[most]) ? k : most), -1) : undefined;
  }

  // quarter returns for which quarter of shares of the time a row is in calls.
  quarter(r) {
    const times = this.timeline.timed ? this.whole(r) : null, { min, max } = this.timeline.span;
    return times ? Math.min(3, Math.floor(4 * times.reduce((a, b) => a + b, 0) / (max - min))) : undefined;
  }

  // offer lists how the rows can be grouped: in more than one group, fewer than rows, and as
  // few as can be looked at.
  offer() {
    const { all, figure } = this.timeline, select = figure.querySelector('[data-group]'), ranks = all.map((r) => r.rank);
    const low = Math.min(...ranks), high = Math.max(...ranks);
    const block = 2 ** Math.ceil(Math.log2(Math.max(2, (high - low + 1) / Math.sqrt(new Set(ranks).size))));
    const other = block !== this.block && this.kind === 'block';
    Object.assign(this, { block, last: high });
    if (other) this.foldMany(all); // what was folded were other ranks
    const offered = Object.keys(this.kinds).filter((kind) => {
      const keys = new Set(all.map(this.kinds[kind].of));
      return kind === this.kind || !keys.has(undefined) && keys.size > 1 && keys.size <= maxGroups && keys.size < all.length;
    });
    select.replaceChildren(...['none', ...offered].map((kind) => new Option(kind === 'none' ? kind : this.kinds[kind].title, kind)));
    select.value = this.kind;
    select.closest('label').hidden = offered.length === 0;
  }

  // arrange makes groups of rows that are in an order, and returns all of them by group.
  arrange(rows) {
    const by = this.kinds[this.kind], found = new Map();
    this.homes.clear();
    for (const r of by ? rows : []) {
      const key = by.of(r) ?? unknown;
      if (!found.has(key)) found.set(key, new Group(key, key === unknown ? 'Not known' : by.name(key)));
      found.get(key).rows.push(r);
      this.homes.set(r, found.get(key));
    }
    this.list = [...found.values()].sort((a, b) => a.key - b.key);
    for (const g of this.list) g.folded = this.folded.has(g.key);
    this.headings();
    return by ? this.list.flatMap((g) => g.rows) : rows;
  }

  // choose groups by something else: what is much is folded.
  choose(kind, rows) {
    if (kind === this.kind) return;
    this.kind = kind;
    this.foldMany(rows);
  }

  // foldMany folds the groups of rows that are many, and no others.
  foldMany(rows) {
    this.folded.clear();
    if (this.kinds[this.kind] && rows.length > maxUnfolded) for (const r of rows) this.folded.add(this.kinds[this.kind].of(r) ?? unknown);
  }

  // shown returns the rows that are to be seen, of some.
  shown(rows) { return this.list.length > 0 ? this.list.flatMap((g) => (g.folded ? [g.row] : g.rows)) : [...rows]; }

  // of returns the group of a row, or that it stands for.
  of(r) { return r && (r.group || this.homes.get(r)); }

  // fold folds some groups, or unfolds them.
  fold(groups, folded) {
    for (const g of groups) {
      g.folded = folded;
      this.folded[folded ? 'add' : 'delete'](g.key);
    }
    this.timeline.refold();
  }

  // headings makes a button for each group.
  headings() {
    const { figure } = this.timeline, heads = figure.querySelector('.heads');
    figure.querySelector('[data-folds]').hidden = this.list.length === 0;
    this.buttons = new Map(this.list.map((g) => {
      const button = document.createElement('button'), name = document.createElement('b');
      button.type = 'button';
      name.textContent = g.name;
      button.append(name, ` ${g.size}` + (this.kind === 'block' || this.kind === 'rank' ? '' : `: ${rangesOf(g.ranks)}`));
      button.addEventListener('click', () => this.fold([g], !g.folded));
      return [g, button];
    }));
    heads.replaceChildren(...this.buttons.values());
  }

  // place puts the headings where they are in the chart.
  place(height) {
    for (const [g, button] of this.buttons) {
      button.style.top = `${g.top}px`;
      button.style.height = `${height}px`;
      button.setAttribute('aria-expanded', String(!g.folded));
    }
  }
}
