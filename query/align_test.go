package query

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/piecewise"
	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// A machineClock is that of a machine, by how much it is off.
type machineClock struct {
	offset int64
	rate   float64
	begun  int64 // when the clock is stepped, by so much
	step   int64
	wander []int64 // by how much it is off as well every 2 ms
}

// at returns what the clock says at a time.
func (c machineClock) at(time int64) int64 {
	at := 1_700_000_000_000_000_000 + c.offset + time + int64(float64(time)*c.rate)
	if c.step != 0 && time >= c.begun {
		at += c.step
	}
	if len(c.wander) > 0 {
		const every = 2e6
		n := max(0, min(time/every, int64(len(c.wander)-2)))
		at += c.wander[n] + (c.wander[n+1]-c.wander[n])*min(max(0, time-n*every), every)/every
	}
	return at
}

// A machineRun is a run on machines whose clocks differ. Times are those of no clock.
type machineRun struct {
	random *rand.Rand
	clocks []machineClock
	of     []int // clock by rank
	now    []int64
	calls  [][]testtrace.Call
	read   []int64             // when the clocks are read, of which real time is known to 100 µs
	codec  *timing.SeriesCodec // of times; nil keeps them exactly
}

// latency is how long the fastest message takes.
const latency = 1000

func (r *machineRun) arrival(sent int64) int64 {
	return sent + latency + int64(r.random.ExpFloat64()*latency)
}

// call has a rank make a call from now on to a time.
func (r *machineRun) call(rank int, end int64, name string, pairs ...any) {
	if name != "MPI_Wait" {
		pairs = append(pairs, "comm", "MPI_COMM_WORLD")
	}
	c := testtrace.MPICall(name, pairs...)
	clock := r.clocks[r.of[rank]]
	c.Start = clock.at(r.now[rank])
	c.Duration = clock.at(end) - c.Start
	r.calls[rank] = append(r.calls[rank], c)
	r.now[rank] = end
}

// exchange has each rank send to the one after it and to the one before it.
func (r *machineRun) exchange(blocking bool) {
	ranks := len(r.of)
	request := int(requestid.Join(0, 0))
	for tag, away := range []int{1, ranks - 1} {
		sent := slices.Clone(r.now)
		for rank := range ranks {
			to, from := (rank+away)%ranks, (rank+ranks-away)%ranks
			data := []any{"count", 1, "datatype", "MPI_INT"}
			if !blocking {
				r.call(rank, r.now[rank]+100, "MPI_Irecv",
					append(data, "source", from, "tag", tag, "request", request)...)
				sent[rank] = r.now[rank]
			}
			r.call(rank, r.now[rank]+200, "MPI_Send", append(data, "dest", to, "tag", tag)...)
		}
		for rank := range ranks {
			from := (rank + ranks - away) % ranks
			end := max(r.now[rank]+100, r.arrival(sent[from]))
			if blocking {
				r.call(rank, end, "MPI_Recv", "count", 1, "datatype", "MPI_INT", "source", from, "tag", tag)
			} else {
				r.call(rank, end, "MPI_Wait", "request", request)
			}
		}
	}
}

// step has all ranks learn of each other in one of several ways.
func (r *machineRun) step(kind string) {
	for rank := range r.now {
		r.now[rank] += r.random.Int64N(20_000)
	}
	data := []any{"count", 1, "datatype", "MPI_INT"}
	switch kind {
	case "blocking", "nonblocking":
		r.exchange(kind == "blocking")
	case "barrier", "allreduce":
		last := slices.Max(r.now)
		for rank := range r.now {
			if kind == "barrier" {
				r.call(rank, r.arrival(last), "MPI_Barrier")
			} else {
				r.call(rank, r.arrival(last), "MPI_Allreduce", append(data, "op", "MPI_SUM")...)
			}
		}
	case "rooted":
		root := r.now[0]
		for rank := range r.now {
			end := r.now[rank] + 200
			if rank > 0 {
				end = max(end, r.arrival(root))
			}
			r.call(rank, end, "MPI_Bcast", append(data, "root", 0)...)
		}
		last := slices.Max(r.now)
		for rank := range r.now {
			end := r.now[rank] + 200
			if rank == 0 {
				end = r.arrival(last)
			}
			r.call(rank, end, "MPI_Reduce", append(data, "op", "MPI_SUM", "root", 0)...)
		}
	case "nothing": // that all have to wait for
		for rank := range r.now {
			r.call(rank, r.now[rank]+10, "MPI_Allreduce", "count", 0, "datatype", "MPI_INT", "op", "MPI_SUM")
			r.call(rank, r.now[rank]+10, "MPI_Bcast", "count", 0, "datatype", "MPI_INT", "root", 0)
		}
	}
}

// run returns what is known of the run, and its clocks.
func (r *machineRun) run() merge.Run {
	run := merge.Run{Ranks: len(r.calls)}
	for k := range r.clocks {
		var ranks []int
		for rank, of := range r.of {
			if of == k {
				ranks = append(ranks, rank)
			}
		}
		run.Clocks = append(run.Clocks, format.Clock{Machine: string(rune('a' + k)),
			Ranks: rankenc.SetOf(ranks...), Error: -1})
		for _, at := range r.read {
			c := &run.Clocks[k]
			time := r.clocks[k].at(at)
			c.Readings = append(c.Readings, format.ClockReading{Time: time,
				Offset: (machineClock{}).at(at) - time, Error: 1e5})
		}
	}
	return run
}

// trace returns the trace, of which clocks are known.
func (r *machineRun) trace(t tester) *trace.Trace {
	t.Helper()
	if r.codec == nil {
		return testtrace.Record(t, r.run(), true, r.calls)
	}
	return testtrace.Write(t, r.run(), r.parts(t))
}

// parts returns those of the ranks, by the codec.
func (r *machineRun) parts(t tester) (parts []merge.Part) {
	t.Helper()
	for rank, calls := range r.calls {
		recorder, err := tracer.New(tracer.Options{Series: r.codec})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			recorder.CallAt(recorder.Declare(c.Function), c.Start, c.Duration, c.Args...)
		}
		parts = append(parts, recorder.Finish(rank))
	}
	return parts
}

func newMachineRun(seed uint64, clocks []machineClock, of []int) *machineRun {
	return &machineRun{random: rand.New(rand.NewPCG(seed, 1)), clocks: clocks, of: of,
		now: make([]int64, len(of)), calls: make([][]testtrace.Call, len(of))}
}

func align(t tester, tr *trace.Trace) []format.Clock {
	t.Helper()
	times, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	list, err := openMatch(t, tr).align(t.Context(), times, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// check checks that clocks agree with the first from one time to another within the error that they say, and
// returns the most that they do not.
func (r *machineRun) check(t tester, list []format.Clock, from, to int64) (most int64) {
	t.Helper()
	for k, c := range list {
		if c.Error < 0 {
			t.Fatalf("clock %d is not aligned", k)
		}
		for i := range int64(9) {
			at := from + (to-from)/8*i
			off := moved(&c, r.clocks[k].at(at)) - r.clocks[0].at(at)
			if off = max(off, -off); off > c.Error+4 {
				t.Fatalf("clock %d is off by %d ns at %d ns, more than %d: %+v of %+v", k, off, at, c.Error,
					c, r.clocks[k])
			}
			most = max(most, off)
		}
	}
	return most
}

// testAlign aligns clocks of machines that are up to five seconds and 100 ppm apart, by messages of calls
// that block and of others, and by collective operations.
func testAlign(t *rapid.T) {
	clocks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) machineClock {
		return machineClock{offset: rapid.Int64Range(-5e9, 5e9).Draw(t, "offset"),
			rate: rapid.Float64Range(-1e-4, 1e-4).Draw(t, "rate")}
	}), 2, 4).Draw(t, "clocks")
	ranks := rapid.IntRange(len(clocks), 5).Draw(t, "ranks")
	of, round := make([]int, ranks), rapid.Bool().Draw(t, "round")
	for rank := range of {
		if of[rank] = rank * len(clocks) / ranks; round {
			of[rank] = rank % len(clocks)
		}
	}
	r := newMachineRun(rapid.Uint64().Draw(t, "seed"), clocks, of)
	kinds := rapid.SliceOfN(
		rapid.SampledFrom([]string{"blocking", "nonblocking", "barrier", "allreduce", "rooted"}), 1, 3).Draw(t, "kinds")
	steps := rapid.IntRange(2, 20).Draw(t, "steps")
	var from, to int64
	for i := range steps {
		if i%3 == 2 {
			r.step("nothing")
		}
		to = slices.Min(r.now)
		r.step(kinds[i%len(kinds)])
		if i == 0 {
			from = slices.Max(r.now)
		}
	}
	list := align(t, r.trace(t))
	if list[0].Alignment != (format.Clock{}).Alignment || list[0].Error != 0 {
		t.Fatalf("the first clock is moved: %+v", list[0])
	}
	if from < to {
		r.check(t, list, from, to)
	}
}

func TestAlign(t *testing.T) { rapid.Check(t, testAlign) }

// TestAlignClosely checks by how much clocks are off that are three seconds and 100 ppm apart, by each way of
// learning of them alone.
func TestAlignClosely(t *testing.T) {
	for _, kind := range []string{"blocking", "nonblocking", "barrier", "allreduce", "rooted"} {
		r := newMachineRun(7, []machineClock{{}, {offset: 3e9, rate: 1e-4}, {offset: -2e9, rate: -1e-4}},
			[]int{0, 0, 1, 1, 2, 2})
		for range 500 {
			r.step(kind)
		}
		list := align(t, r.trace(t))
		if most := r.check(t, list, 1e5, slices.Min(r.now)-1e5); most > 1000 {
			t.Errorf("%s: off by %d ns", kind, most)
		}
		for _, c := range list {
			if c.Error > 10*latency {
				t.Errorf("%s: the error is %d ns", kind, c.Error)
			}
		}
	}
}

// TestAlignTrace checks that a trace is aligned to the same bytes as one that is written with its clocks
// aligned, that aligning it again changes nothing, and that a file is replaced.
func TestAlignTrace(t *testing.T) {
	for _, stepped := range []int64{0, 1e9, 50_000} {
		testAlignTrace(t, stepped)
	}
}

func testAlignTrace(t *testing.T, stepped int64) {
	t.Helper()
	clocks := []machineClock{{}, {offset: 3e9, rate: 1e-4, begun: 500_000, step: stepped}, {offset: -2e9, rate: -1e-4}}
	r := newMachineRun(3, clocks, []int{0, 1, 2, 1})
	for i := range 30 {
		r.step([]string{"blocking", "barrier", "rooted"}[i%3])
	}
	tr := r.trace(t)
	write := func(clocks []format.Clock) []byte {
		var a merge.Accumulator
		if err := a.Describe(tr.Run()); err != nil {
			t.Fatal(err)
		}
		if err := tr.AddTo(t.Context(), &a); err != nil {
			t.Fatal(err)
		}
		a.Align(clocks)
		var file bytes.Buffer
		if err := a.Write(&file); err != nil {
			t.Fatal(err)
		}
		return file.Bytes()
	}
	file := write(nil)
	aligned, list, err := AlignTrace(t.Context(), file)
	if err != nil || len(list) != 3 || !bytes.Equal(aligned, write(list)) {
		t.Fatalf("another trace, %+v, %v", list, err)
	}
	if !reflect.DeepEqual(list, align(t, tr)) || len(list[1].Later) == 0 && stepped != 0 {
		t.Errorf("other clocks: %+v", list)
	}
	r.checkStarts(t, aligned, list)
	wrong := slices.Clone(list)
	wrong[1].Offset += 1e6
	if again, _, err := AlignTrace(t.Context(), write(wrong)); err != nil || !bytes.Equal(again, aligned) {
		t.Errorf("aligned again, it is another trace, %v", err)
	}
	path := filepath.Join(t.TempDir(), "run.rpz")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	if got, err := AlignFile(t.Context(), path); err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("AlignFile returns %+v, %v", got, err)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, aligned) {
		t.Errorf("AlignFile made another file, %v", err)
	}
}

// TestAlignJumps aligns clocks that gain or lose up to 40 µs every two milliseconds, which 64 pieces do not
// follow: they jump, no message arrives before it is sent, clocks agree within what is told, all that reads
// times has them, and merged in any order, and again, it is the same trace.
func TestAlignJumps(t *testing.T) {
	clocks := []machineClock{{}, {offset: 3e9, rate: 1e-4}, {offset: -2e9, rate: -1e-4}}
	r := newMachineRun(3, clocks, []int{0, 1, 2, 1})
	for k := 1; k < 3; k++ {
		for range 300 {
			clocks[k].wander = append(clocks[k].wander, r.random.Int64N(40_000))
		}
	}
	for i := range 3000 {
		r.step([]string{"blocking", "nonblocking", "barrier", "rooted"}[i%4])
	}
	r.codec = must.Get(timing.NewSeriesCodec(must.Get(timing.NewLossless(timing.Zstd)),
		must.Get(timing.NewLossless(timing.Zstd)), timing.Gaps))
	list, parts, jumps := align(t, r.trace(t)), r.parts(t), 0
	for k, c := range list {
		if jumps += len(c.Jumps); c.Early > 0 || len(c.Later) > 0 || piecewise.Jumps(c.Jumps).Most() > c.Error {
			t.Errorf("clock %d: %d early, %d pieces, %d jumps", k, c.Early, len(c.Later), len(c.Jumps))
		}
	}
	if jumps < 100 {
		t.Fatalf("%d jumps", jumps)
	}
	r.check(t, list, 1e5, slices.Min(r.now)-1e5)
	var files [2][]byte
	for i := range files {
		var a, b merge.Accumulator
		if err := a.Describe(r.run()); err != nil {
			t.Fatal(err)
		}
		for k := range parts {
			into := []*merge.Accumulator{&a, &b}[(k+i)%2]
			if err := into.Add(parts[(k+2*i)%len(parts)]); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Merge(&b); err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := a.Write(&file); err != nil {
			t.Fatal(err)
		}
		aligned, _, err := AlignTrace(t.Context(), file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		files[i] = aligned
	}
	if again, got, err := AlignTrace(t.Context(), files[0]); !bytes.Equal(files[0], files[1]) || err != nil ||
		!bytes.Equal(again, files[0]) || !reflect.DeepEqual(got, list) {
		t.Errorf("other traces, or clocks, %v", err)
	}
	r.checkJumped(t, files[0], list)
}

// eachCall calls f for each call of an aligned trace, with the clock of its rank and the call as it was
// recorded.
func (r *machineRun) eachCall(t *testing.T, file []byte, f func(clock int, call trace.Call, recorded testtrace.Call)) {
	t.Helper()
	_, tr, err := openTrace(file)
	if err != nil {
		t.Fatal(err)
	}
	run := tr.Run()
	for number, calls := range r.calls {
		rank, err := tr.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		if rank.Len() != uint64(len(calls)) {
			t.Fatalf("%d calls of rank %d, %d expected", rank.Len(), number, len(calls))
		}
		for call, err := range rank.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			f(run.ClockOf(number), call, calls[call.Position])
		}
	}
}

// checkJumped checks that calls of an aligned trace begin and end when the clocks say.
func (r *machineRun) checkJumped(t *testing.T, file []byte, list []format.Clock) {
	t.Helper()
	r.eachCall(t, file, func(clock int, call trace.Call, recorded testtrace.Call) {
		begin, end := moved(&list[clock], recorded.Start), moved(&list[clock], recorded.Start+recorded.Duration)
		if call.Start != begin || call.Start+call.Duration != end {
			t.Fatalf("rank %d, call %d is from %d to %d, want %d to %d", call.Rank, call.Position, call.Start,
				call.Start+call.Duration, begin, end)
		}
	})
}

// checkStarts checks that calls of an aligned trace start when they started, but for some around the step of
// the clock.
func (r *machineRun) checkStarts(t *testing.T, file []byte, list []format.Clock) {
	t.Helper()
	off := make([]int, len(r.calls))
	r.eachCall(t, file, func(clock int, call trace.Call, recorded testtrace.Call) {
		k := r.of[call.Rank]
		start := recorded.Start - r.clocks[k].offset
		if r.clocks[k].step != 0 && start-1_700_000_000_000_000_000 >= r.clocks[k].begun+r.clocks[k].step {
			start -= r.clocks[k].step
		}
		start -= int64(float64(start-1_700_000_000_000_000_000) * r.clocks[k].rate)
		if by := max(call.Start-start, start-call.Start); by > list[clock].Error+4 {
			off[call.Rank]++
		}
	})
	for rank, n := range off {
		if n > 8 {
			t.Errorf("%d of %d calls of rank %d are off: %+v", n, len(r.calls[rank]), rank, list)
		}
	}
}

// TestAlignInexact aligns clocks by times that are a tenth off: by the ends of the calls that tell of clocks,
// and by the longest gap, not by the longest of all calls.
func TestAlignInexact(t *testing.T) {
	for _, form := range []timing.Form{timing.Gaps, timing.Intervals} {
		entropy, err := timing.NewEntropy(0.1)
		if err != nil {
			t.Fatal(err)
		}
		r := newMachineRun(3, []machineClock{{}, {offset: 3e9, rate: 1e-4}}, []int{0, 1})
		r.codec = must.Get(timing.NewSeriesCodec(entropy, entropy, form))
		r.now[1] = 200_000_000
		r.step("barrier") // in which rank 0 waits
		from := slices.Max(r.now)
		for i := range 200 {
			r.step([]string{"blocking", "nonblocking", "barrier", "allreduce", "rooted"}[i%5])
		}
		list := align(t, r.trace(t))
		r.check(t, list, from, slices.Min(r.now))
		if list[1].Error > 50_000 {
			t.Errorf("%v: clocks may be off by %d ns", form, list[1].Error)
		}
	}
}

// TestAlignTraceAlone checks that nothing is done where nothing is known of clocks.
func TestAlignTraceAlone(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("..", "internal", "test", "testtrace", "testdata", "stencil.exact.rpz"))
	if err != nil {
		t.Fatal(err)
	}
	if got, clocks, err := AlignTrace(t.Context(), file); err != nil || clocks != nil || !bytes.Equal(got, file) {
		t.Errorf("%d bytes, %+v, %v", len(got), clocks, err)
	}
	if _, _, err := AlignTrace(t.Context(), file[:len(file)-1]); err == nil {
		t.Error("half a file is aligned")
	}
}

// TestAlignUnknown checks that clocks are not aligned by operations in which nobody has to wait.
func TestAlignUnknown(t *testing.T) {
	r := newMachineRun(1, []machineClock{{}, {offset: 1e9, rate: 0}}, []int{0, 1})
	r.step("nothing")
	for k, c := range align(t, r.trace(t)) {
		if want := int64(-min(k, 1)); c.Error != want || c.Offset != 0 {
			t.Errorf("clock %d: %+v", k, c)
		}
	}
}

// TestAlignReadings checks that clocks are aligned by readings of real time where there are no messages.
func TestAlignReadings(t *testing.T) {
	r := newMachineRun(1, []machineClock{{}, {offset: 1e9, rate: 1e-4}, {offset: -3e9, rate: -5e-5}}, []int{0, 1, 2})
	r.step("nothing")
	for rank := range r.now {
		r.now[rank] += 1e9
	}
	r.step("nothing")
	r.read = []int64{0, 1e9}
	list := align(t, r.trace(t))
	r.check(t, list, 0, 1e9)
	for _, c := range list {
		if c.Error > 1e6 || c.Contradicted {
			t.Errorf("%+v", c)
		}
	}
}

// TestClockErrors checks that late senders and skews are left out that may come from the clocks alone.
func TestClockErrors(t *testing.T) {
	for _, tt := range []struct {
		name        string
		errors      []int64 // of the clocks of two machines; none for one machine
		late, skews int
	}{
		{"one machine", nil, 2, 300 + 5000},
		{"exact", []int64{0, 0}, 2, 300 + 5000},
		{"aligned", []int64{0, 1000}, 1, 5000},
		{"both off", []int64{2500, 2500}, 0, 0},
		{"not aligned", []int64{0, -1}, 0, 0},
	} {
		var run merge.Run
		for k, e := range tt.errors {
			run.Clocks = append(run.Clocks, format.Clock{Machine: string(rune('a' + k)),
				Ranks: rankenc.SetOf(k), Error: e})
		}
		r := newMachineRun(1, []machineClock{{}}, []int{0, 0})
		for _, late := range []int64{300, 5000} {
			begin := slices.Max(r.now) + 100_000
			r.now[0], r.now[1] = begin, begin+late
			r.call(1, begin+late+100, "MPI_Send", "count", 1, "datatype", "MPI_INT", "dest", 0, "tag", 0)
			r.call(0, begin+late+latency, "MPI_Recv", "count", 1, "datatype", "MPI_INT", "source", 1, "tag", 0)
			r.now[0], r.now[1] = begin+20_000, begin+20_000+late
			r.call(0, begin+40_000, "MPI_Barrier")
			r.call(1, begin+40_000, "MPI_Barrier")
		}
		tr := testtrace.Record(t, run, true, r.calls)
		times, err := OpenTimes(tr)
		if err != nil {
			t.Fatal(err)
		}
		m := openMatch(t, tr)
		late, err := m.LateSenders(t.Context(), times, Options{})
		if err != nil || len(late) != 1 || late[0].Late != tt.late || late[0].Sampled != 2 {
			t.Errorf("%s: %+v, %v", tt.name, late, err)
		}
		skews, err := m.Skew(t.Context(), times, Options{})
		sum := 0
		for _, s := range skews {
			sum += int(s.Mean * Nanoseconds(s.Sampled))
			if (s.StartError == nil) != (tt.name == "not aligned") {
				t.Errorf("%s: the error of starts is %v", tt.name, s.StartError)
			}
		}
		if err != nil || sum != tt.skews {
			t.Errorf("%s: %+v, %v", tt.name, skews, err)
		}
	}
}

// TestClockErrorsOfPieces checks that a difference is explained by the errors of the clocks at its times.
func TestClockErrorsOfPieces(t *testing.T) {
	pieces := format.Clock{Machine: "b", Ranks: rankenc.SetOf(1),
		Later: []format.Alignment{{Offset: 50, Since: 1000}}, Errors: []int64{10, 500}, Error: 500}
	run := merge.Run{Ranks: 4, Clocks: []format.Clock{
		{Machine: "a", Ranks: rankenc.SetOf(0, 3)}, pieces, {Machine: "c", Ranks: rankenc.SetOf(2), Error: -1},
	}}
	for _, tt := range []struct {
		rank, other      int
		time, difference int64
		off              int64 // how far times may be off
		want             bool
	}{
		{0, 1, 100, 10, 0, true}, {0, 1, 100, 11, 0, false}, {1, 0, 100, -11, 0, false},
		{0, 1, 2000, 500, 0, true}, {0, 1, 2000, 501, 0, false},
		{0, 1, 100, 11, 2000, true}, {0, 1, 100, 11, 500, false}, {0, 3, 100, 0, 2000, false},
		{0, 2, 100, 1e9, 0, true},
	} {
		if got := (clockErrors{run, tt.off}).explain(tt.rank, tt.time, tt.other, tt.time,
			float64(tt.difference)); got != tt.want {
			t.Errorf("%+v: got %t", tt, got)
		}
	}
}

// TestSameClockJumps checks that a clock that jumps between calls of two of its ranks neither makes a sender
// late nor a skew, and that what it says itself counts.
func TestSameClockJumps(t *testing.T) {
	const ahead = 200_000
	r := newMachineRun(1, []machineClock{{}}, make([]int, 4))
	var jumps piecewise.Jumps
	for _, late := range []int64{1, 300} {
		begin := slices.Max(r.now) + 100*ahead
		r.now[0], r.now[1] = begin, begin+late
		r.call(1, begin+late+100, "MPI_Send", "count", 1, "datatype", "MPI_INT", "dest", 0, "tag", 0)
		r.call(0, begin+late+latency, "MPI_Recv", "count", 1, "datatype", "MPI_INT", "source", 1, "tag", 0)
		jumps = append(jumps, format.Jump{Since: r.calls[1][len(r.calls[1])-1].Start, Ahead: ahead})
		begin += 100 * ahead
		r.now[0], r.now[1], r.now[2], r.now[3] = begin, begin, begin+late, begin
		for rank := range 4 {
			r.call(rank, begin+40_000, "MPI_Barrier")
		}
		jumps = append(jumps, format.Jump{Since: r.calls[2][len(r.calls[2])-1].Start, Ahead: ahead})
	}
	run := merge.Run{Clocks: []format.Clock{
		{Machine: "a", Ranks: rankenc.SetOf(0, 1, 2), Jumps: jumps, Error: ahead},
		{Machine: "b", Ranks: rankenc.SetOf(3), Error: ahead},
	}}
	tr := testtrace.Record(t, run, true, r.calls)
	times, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	m := openMatch(t, tr)
	late, err := m.LateSenders(t.Context(), times, Options{})
	if err != nil || len(late) != 1 || late[0].Late != 2 || late[0].Wait != 301 {
		t.Errorf("%+v, %v", late, err)
	}
	skews, err := m.Skew(t.Context(), times, Options{})
	if err != nil || len(skews) != 1 || skews[0].Max != 300 {
		t.Errorf("%+v, %v", skews, err)
	}
}

// TestEndOf checks that calls had ended by then if their durations are as far off as they can be.
func TestEndOf(t *testing.T) {
	for _, tt := range []struct {
		guarantee       timing.Guarantee
		most            int64
		start, duration int64
		least, greatest int64
	}{
		{timing.Exact, 0, 5, 100, 105, 105},
		{0.1, 1e6, 5, 900, 1005, 1010}, // of 1000 that became 900
		{0.1, 10, 5, 900, 915, 915},    // no duration is off by more
		{0.1, 1e6, 5, -3, 5, 7},
		{1, 1e6, 5, 900, 1e6 + 905, 1e6 + 905},
	} {
		a := aligner{guarantee: tt.guarantee, most: tt.most}
		if got := a.endOf(callTime{start: tt.start, duration: tt.duration}); got < tt.least || got > tt.greatest {
			t.Errorf("%+v: %d", tt, got)
		}
	}
}

// moved returns a time of a clock as one of the clock of the first rank.
func moved(c *format.Clock, time int64) int64 {
	if move := layout.MoveTimes(c); move != nil {
		return move(time)
	}
	return time
}
