package replay

// A trail is the path of a recording to where a rank is: computing and calls, one after the other, of the rank
// itself or, before a call that waited, of the one that it waited for. Two trails have their beginning in
// common, up to where one rank last waited for the other, or both for a third. The rest of them tells why one
// is longer than the other: see [Waited.Delays].
//
// A trail is a chain of steps. Others go on from its steps, so that what trails have in common is the same. If
// a chain gets long, its older half is replaced by sums.

// A trailEnd is what the last step of a trail has besides what every path has. The time that a path has as
// computing is that before a call, and the rest of the step is in the call.
type trailEnd struct {
	number uint64      // of the step: those before have lower ones
	leg    int32       // of the step
	gap    bool        // it has the time before a call
	ends   bool        // it has the end of a call
	sums   *[]trailSum // if there is none before: of all up to here
}

// A trailSum is what a trail has of a leg.
type trailSum struct {
	leg int32
	spent
}

// Spent is how much time goes by before calls and in calls, and how often.
type spent struct {
	before, within Time
	gaps, calls    int64
}

func (a *spent) add(b *spent, sign int64) {
	a.before += b.before * Time(sign)
	a.within += b.within * Time(sign)
	a.gaps += b.gaps * sign
	a.calls += b.calls * sign
}

// spent returns what a step has.
func (p *pathEnd) spent() spent {
	from := Time(0)
	if p.before != nil {
		from = p.before.at
	}
	of := spent{before: p.computing, within: p.at - from - p.computing}
	if p.trail.gap {
		of.gaps = 1
	}
	if p.trail.ends {
		of.calls = 1
	}
	return of
}

// A leg is a call of a rank after another.
type leg struct {
	legKey
	gaps, calls int32 // groups of legs that are alike, for the time before the call, and in it
}

type legKey struct {
	rank          int32 // its index
	after, before int32 // sites of the call before the gap, −1 for none, and of the call
}

// trails are the trails of a recording.
type trails struct {
	engine *engine
	steps  uint64

	legs    []leg
	numbers map[legKey]int32   // of legs
	groups  map[[2]int32]int32 // of legs, by their sites; −2 stands for any call before
	spent   []spent            // by leg: of all calls, without waits

	// What is found of two trails, and which of these have something.
	differs []legSum // by leg
	found   []int32
	sums    []groupSum // by group
	list    []Delay
}

// A legSum is what is found of a leg.
type legSum struct {
	spent
	found bool
}

// A groupSum is what the trail of a call that waits has of a group, and how often the other one has it.
type groupSum struct {
	time       Time
	mine, more int64
}

func newTrails(e *engine) *trails {
	for _, s := range e.strands {
		s.previous = -1
	}
	return &trails{engine: e, numbers: make(map[legKey]int32), groups: make(map[[2]int32]int32)}
}

// come sets the leg that a strand comes to with its next call.
func (t *trails) come(s *strand) {
	k := legKey{int32(s.rank.index), s.previous, int32(t.engine.recording.Site(&s.at))}
	s.previous, s.here = k.before, nil
	n, ok := t.numbers[k]
	if !ok {
		n = int32(len(t.legs))
		t.legs = append(t.legs, leg{k, t.groupOf(k.after, k.before), t.groupOf(-2, k.before)})
		t.numbers[k], t.differs, t.spent = n, append(t.differs, legSum{}), append(t.spent, spent{})
	}
	s.leg = n
}

func (t *trails) groupOf(after, before int32) int32 {
	k := [2]int32{after, before}
	n, ok := t.groups[k]
	if !ok {
		n = int32(len(t.sums))
		t.groups[k], t.sums = n, append(t.sums, groupSum{})
	}
	return n
}

// toStart returns the trail to the start of the call of a strand.
func (t *trails) toStart(s *strand) *pathEnd {
	if s.here == nil {
		s.here = t.step(s, s.path, s.start, trailEnd{gap: true})
	}
	return s.here
}

// advance sets the trail of a strand to the end of its call.
func (t *trails) advance(s *strand) {
	switch {
	case s.cause.path != nil:
		s.path = t.step(s, s.cause.path, s.recordedEnd, trailEnd{ends: true})
	case s.here != nil:
		s.path = t.step(s, s.here, s.recordedEnd, trailEnd{ends: true})
	default:
		s.path = t.step(s, s.path, s.recordedEnd, trailEnd{gap: true, ends: true})
	}
}

// spend adds the computing of a strand before its call, and the part of the call in which it did not wait.
func (t *trails) spend(s *strand) {
	from := s.start
	if s.cause.path != nil {
		from = min(s.end, s.recordedEnd)
	}
	t.spent[s.leg].before += s.start - s.clock
	t.spent[s.leg].within += s.recordedEnd - from
}

// all returns what all strands compute and call, as shares of a time.
func (t *trails) all(of Time) (list []Delay) {
	for i := range t.spent {
		a, p := &t.spent[i], &t.legs[i]
		rank := t.engine.ranks[p.rank].number
		if a.before > 0 {
			list = append(list, Delay{rank, int(p.after), int(p.before), false, float64(a.before) / float64(of)})
		}
		if a.within > 0 {
			list = append(list, Delay{rank, int(p.before), int(p.before), true, float64(a.within) / float64(of)})
		}
	}
	return list
}

// step returns a step of a strand after another.
func (t *trails) step(s *strand, before *pathEnd, at Time, end trailEnd) *pathEnd {
	t.steps++
	end.number, end.leg = t.steps, s.leg
	p := &pathEnd{before: before, at: at, rank: int32(s.rank.index), length: 1, most: minChain, trail: end}
	if end.gap {
		p.computing = s.start - s.clock
	}
	if before != nil {
		if p.length, p.most = before.length+1, before.most; p.length > p.most {
			t.shorten(p)
		}
	}
	return p
}

// shorten replaces the older half of a trail by sums.
func (t *trails) shorten(p *pathEnd) {
	q, n := p, int32(0)
	for ; n < p.most/2 && q.trail.sums == nil; n++ {
		if q.before == nil {
			return
		}
		q = q.before
	}
	if p.length = n + 1; q.trail.sums != nil { // others have shortened it
		p.most = q.most
		return
	}
	for r := q; r != nil; r = r.before {
		t.take(r, 1)
	}
	sums := make([]trailSum, 0, len(t.found))
	for _, n := range t.found {
		sums = append(sums, trailSum{n, t.differs[n].spent})
		t.differs[n] = legSum{}
	}
	t.found = t.found[:0]
	q.trail.sums, q.before, q.length = &sums, nil, 0
	q.most = max(minChain, 2*int32(len(sums)))
	p.most = q.most
}

// take adds a step to what differs.
func (t *trails) take(p *pathEnd, sign int64) {
	if p.trail.sums != nil {
		for i := range *p.trail.sums {
			of := &(*p.trail.sums)[i]
			t.add(of.leg, &of.spent, sign)
		}
		return
	}
	of := p.spent()
	t.add(p.trail.leg, &of, sign)
}

func (t *trails) add(leg int32, of *spent, sign int64) {
	d := &t.differs[leg]
	if !d.found {
		d.found = true
		t.found = append(t.found, leg)
	}
	d.add(of, sign)
}

// delays returns why a trail is longer than another, which may be nil.
func (t *trails) delays(long, short *pathEnd) []Delay {
	for long != short {
		if short == nil || long != nil && long.trail.number > short.trail.number {
			t.take(long, 1)
			long = long.before
		} else {
			t.take(short, -1)
			short = short.before
		}
	}
	for _, n := range t.found {
		d, p := &t.differs[n], &t.legs[n]
		t.count(p.gaps, d.before, d.gaps)
		t.count(p.calls, d.within, d.calls)
	}
	t.list = t.list[:0]
	if total := t.collect(t.excess); total == 0 {
		t.collect(func(_ int32, time Time, _ int64) float64 { return float64(time) })
	}
	for _, n := range t.found {
		p := &t.legs[n]
		t.differs[n], t.sums[p.gaps], t.sums[p.calls] = legSum{}, groupSum{}, groupSum{}
	}
	t.found = t.found[:0]
	return t.list
}

// count counts what differs in a leg for its group.
func (t *trails) count(group int32, time Time, times int64) {
	g := &t.sums[group]
	if times > 0 {
		g.more += times
	}
	if times < 0 || times == 0 && time < 0 {
		g.time -= time
		g.mine -= times
	}
}

// excess returns by how much more time one trail has in a leg than the other has for as many calls of its
// group.
func (t *trails) excess(group int32, time Time, times int64) float64 {
	g := &t.sums[group]
	more := float64(time)
	if g.mine > 0 && times > 0 {
		more -= float64(g.time) / float64(max(g.mine, g.more)) * float64(times)
	}
	return more
}

// collect makes the list of delays by the excess of each leg, and returns its sum.
func (t *trails) collect(excess func(group int32, time Time, times int64) float64) (total float64) {
	t.list = t.list[:0]
	for _, n := range t.found {
		d, p := &t.differs[n], &t.legs[n]
		rank := t.engine.ranks[p.rank].number
		if d.before > 0 {
			if more := excess(p.gaps, d.before, d.gaps); more > 0 {
				t.list = append(t.list, Delay{rank, int(p.after), int(p.before), false, more})
				total += more
			}
		}
		if d.within > 0 {
			if more := excess(p.calls, d.within, d.calls); more > 0 {
				t.list = append(t.list, Delay{rank, int(p.before), int(p.before), true, more})
				total += more
			}
		}
	}
	for i := range t.list {
		t.list[i].Share /= total
	}
	return total
}
