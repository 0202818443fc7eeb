// Ranks whose calls are asked for: those of what is shown, from the server of the page.

// asking is how many requests are on their way; others wait in line.
const line = { asking: 0, waiting: [] };

// ask returns what the server answers.
async function ask(what, values) {
  if (line.asking >= 4) await new Promise((go) => line.waiting.push(go));
  line.asking++;
  try {
    const answer = await fetch(`${what}?${new URLSearchParams(values)}`);
    if (!answer.ok) throw new Error(`${what}: ${await answer.text()}`);
    return await answer.json();
  } finally {
    line.asking--;
    if (line.waiting.length > 0) line.waiting.shift()();
  }
}

// A Remote is a row of which that is known which was asked for last: calls one by one, or
// sums over spans of time that are as wide as can be told apart on the screen.
class Remote {
  constructor(span) {
    Object.assign(this, { start: 0, end: span, grain: 0, rough: false, detail: null, whole: null, words: [], kinds: [] });
  }

  // set takes what the server has answered.
  set(answer, classOf, whole) {
    const { calls, from, to } = answer;
    if (calls) {
      const numbers = (list, type) => type.from(list || []), of = calls.functions.map((f) => classOf[f]);
      this.words = calls.texts;
      this.kinds = calls.functions;
      this.detail = new Calls({
        terminals: numbers(calls.terminals, Int32Array), starts: numbers(calls.starts, Float64Array),
        durations: numbers(calls.durations, Float64Array), positions: numbers(calls.positions, Float64Array),
      }, of, classes);
      if (calls.waits) this.detail.waits = new Waits(calls.waits, this.detail);
    } else {
      this.detail = new Bins({ from, to, width: answer.width, times: answer.time, counts: answer.count });
    }
    this.from = from;
    this.to = to;
    if (whole) this.whole = this.detail;
  }

  // states returns what is known of the waits from a to b: of calls where these are known.
  states() {
    return {
      known: (a, b) => this.known(a, b),
      draw: (a, b, row) => {
        const known = this.known(a, b);
        if (known) (known.states ||= known.waits ? known.waits.track() : new Together(known)).draw(a, b, row);
      },
    };
  }

  // known returns what there is of the times from a to b.
  known(a, b) { return this.detail && this.from <= a && this.to >= b ? this.detail : this.whole; }

  find(time) {
    const known = this.known(time, time);
    return known ? known.find(time) : null;
  }

  at(position) { return this.detail instanceof Calls ? this.detail.at(position) : null; }

  draw(a, b, row) {
    const known = this.known(a, b);
    if (!known) return;
    this.rough = known instanceof Bins && known.width * row.width > 8 * (b - a);
    known.draw(a, b, row);
  }
}

// A RemoteRank asks for the rows of a rank.
class RemoteRank {
  constructor(timeline, rank) { Object.assign(this, { timeline, rank, rows: [], wanted: null, busy: false, last: '' }); }

  // open returns the rows.
  async open() {
    const { threads, calls, end, timed, shape } = await ask('rank', { rank: this.rank });
    if (!timed) return [];
    this.rows = threads.map((thread) => {
      const track = new Remote(end);
      return {
        rank: this.rank, thread: threads.length > 1 ? thread : undefined, shape, program: null, track, calls, remote: this,
        functionOf: (t) => track.kinds[t], textOf: (t) => track.words[t],
      };
    });
    return this.rows;
  }

  // refine asks for what is shown of the times from low to high, on so many pixels, unless
  // that is known. Of several that come while one is asked for, the last one counts.
  async refine(low, high, pixels) {
    const all = this.rows[0].track.end, width = high - low, columns = Math.ceil(pixels / 2);
    const key = `${low} ${high} ${columns}`, { track } = this.rows[0];
    const fine = track.detail && (track.detail instanceof Calls || track.detail.width <= 1.5 * width / columns);
    if (key === this.last || fine && track.from <= Math.max(0, low) && track.to >= Math.min(all, high)) return;
    if (this.busy) {
      this.wanted = [low, high, pixels];
      return;
    }
    const later = low > all; // than its last call
    if (later && this.rows.every((r) => r.track.whole)) return;
    this.busy = true;
    this.last = key;
    const from = Math.max(0, Math.floor(low - width / 4)), to = Math.min(all + 1, Math.max(from + 1, Math.ceil(high + width / 4)));
    try {
      if (from > 0 || to < all) await this.sum(); // for the overview
      this.last = key;
      if (!later) this.take(await ask('window', { rank: this.rank, from, to, columns: Math.min(8192, Math.ceil(columns * (to - from) / width)) }), from === 0 && to >= all);
    } catch (error) {
      this.last = ''; // it may be asked for again
      this.failed(error);
    } finally {
      this.busy = false;
    }
    const next = this.wanted;
    this.wanted = null;
    if (next) this.refine(...next);
    this.timeline.later();
  }

  // take keeps what is known of the rows, which may be of the whole run.
  take(answers, whole) {
    const known = this.rows.every((r) => r.track.whole);
    answers.forEach((answer, i) => {
      this.rows[i].track.set(answer, this.timeline.classOf, whole);
      this.rows[i].waits = this.rows[i].track.detail.waits || null;
    });
    if (whole && !known) this.timeline.learned();
  }

  // sum asks for what is known of the whole run, unless that is there.
  async sum() {
    if (this.rows.every((r) => r.track.whole)) return;
    try {
      this.take(await ask('window', { rank: this.rank, from: 0, to: this.rows[0].track.end + 1, columns: 1024 }), true);
      this.last = ''; // what is shown is asked for again
    } catch (error) {
      this.failed(error);
    }
  }

  failed(error) { this.timeline.figure.querySelector('.found').textContent = `rank ${this.rank} cannot be read: ${error.message}`; }

  named(call) {
    const f = this.timeline.functions[call.function];
    return { ...call, name: f ? f.name : call.text };
  }

  // call returns the call at a position, with its messages.
  async call(position) {
    const call = await ask('call', { rank: this.rank, position });
    return call && this.named({ messages: [], ...call });
  }

  // next returns the next call that is searched for, null if there is none.
  async next(thread, position, step, what) {
    const [kind] = Object.keys(what);
    const call = await ask('find', { rank: this.rank, position: Math.min(position, 2 ** 53), step, kind, value: what[kind], ...(thread === undefined ? {} : { thread }) });
    return call && this.named(call);
  }

  // usage returns what a row does between two times, by function.
  async usage(thread, from, to) {
    const low = Math.max(0, Math.floor(from)), end = Math.min(this.rows[0].track.end + 1, Math.ceil(to));
    const { rough, uses } = await ask('usage', { rank: this.rank, from: low, to: Math.max(low + 1, end) });
    return { rough, found: new Map(uses.filter((u) => thread === undefined || u.thread === thread).map((u) => [u.function, u])) };
  }
}
