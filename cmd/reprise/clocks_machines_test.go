//go:build linux

package main

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/trace"
)

// A shifted is a machine as machines.c has it: how many nanoseconds its clocks are ahead when recording
// begins, by how many parts in a thousand million they are fast, and what is added to both from a second time
// on.
type shifted struct{ ahead, fast, laterAhead, laterFast int64 }

// A shift is the machines of the ranks of clocks.c, and the times that they depend on.
type shift struct {
	of            [4]int // the machine of each rank
	machines      []shifted
	begin, second int64  // second is zero if there is none
	real          int64  // by how much real time is ahead of the monotonic clock
	say           string // what merge and info say besides

	most, every int64 // how far machines but the first wander, from one such time to the next
}

// environment returns what tells the library of the machines.
func (s *shift) environment(library, file string) []string {
	text := fmt.Sprint(s.begin)
	for _, k := range s.of {
		m := s.machines[k]
		text += fmt.Sprint(" ", k+1, m.ahead, m.fast, m.laterAhead, m.laterFast)
	}
	list := []string{"LD_PRELOAD=" + library, "MACHINES=" + text, "MACHINES_FILE=" + file}
	if s.every > 0 {
		list = append(list, fmt.Sprint("MACHINES_WANDER=", s.most, " ", s.every))
	}
	return list
}

// wandered returns by how much a machine has wandered at a time since the begin, as machines.c does.
func (s *shift) wandered(k int, since int64) int64 {
	if k == 0 || s.every == 0 || since < 0 {
		return 0
	}
	ahead := func(n uint64) int64 {
		n = (n ^ n>>7) * 0x9e3779b97f4a7c15
		return int64((n ^ n>>32) * 0xd6e8feb86659fd93 % uint64(s.most))
	}
	n := since / s.every
	from, to := ahead(uint64(n)), ahead(uint64(n+1))
	return from + (to-from)*(since%s.every)/s.every
}

// at returns what the clock of a machine says at a time of the real clock.
func (s *shift) at(k int, time int64) int64 {
	m := s.machines[k]
	time -= s.real
	shift := m.ahead + int64(float64(time-s.begin)*float64(m.fast)/1e9)
	if s.second > 0 && time >= s.second {
		shift += m.laterAhead + int64(float64(time-s.second)*float64(m.laterFast)/1e9)
	}
	return time + shift + s.wandered(k, time-s.begin) + s.real
}

// truth returns the time of the real clock when the clock of a machine says so.
func (s *shift) truth(k int, time int64) int64 {
	if s.every > 0 {
		return s.search(k, time)
	}
	m, base, rate := s.machines[k], s.begin+s.real, float64(s.machines[k].fast)
	if second := s.second + s.real; s.second > 0 && time >= s.at(k, second) {
		base, rate = second, rate+float64(m.laterFast)
	}
	return base + int64(float64(time-s.at(k, base))/(1+rate/1e9))
}

// search is truth for a clock that wanders.
func (s *shift) search(k int, time int64) int64 {
	low, high := time-1e10, time+1e10
	for low < high {
		if middle := low + (high-low)/2; s.at(k, middle) >= time {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// now returns the monotonic clock, and by how much real time is ahead of it.
func now(t *testing.T) (monotonic, ahead int64) {
	t.Helper()
	least := int64(-1)
	for range 16 {
		var before, real, after unix.Timespec
		for _, clock := range []struct {
			id int32
			to *unix.Timespec
		}{{unix.CLOCK_MONOTONIC, &before}, {unix.CLOCK_REALTIME, &real}, {unix.CLOCK_MONOTONIC, &after}} {
			if err := unix.ClockGettime(clock.id, clock.to); err != nil {
				t.Fatal(err)
			}
		}
		if took := after.Nano() - before.Nano(); least < 0 || took < least {
			least = took
			monotonic, ahead = before.Nano(), real.Nano()-before.Nano()-took/2
		}
	}
	return monotonic, ahead
}

// TestMachines records programs whose ranks are on machines with clocks of their own, each with a recorder,
// and compares the times of the merged trace with the clock of the first machine. They are the same within the
// error that the trace states and a microsecond, the time to read a clock.
func TestMachines(t *testing.T) {
	two := []shifted{{}, {ahead: 3e9, fast: 100_000}}
	three := func(second shifted) []shifted { return []shifted{{}, second, {ahead: -2e9, fast: -100_000}} }
	for _, tt := range []struct {
		name    string
		shift   shift
		counter bool // times are those of the counter of the processor
	}{
		{"Even", shift{of: [4]int{0, 0, 1, 1}, machines: two}, false},
		{"Counter", shift{of: [4]int{0, 0, 1, 2}, machines: []shifted{{ahead: 1e9, fast: -50_000},
			{ahead: 3e9, fast: 100_000}, {ahead: -2e9, fast: -100_000}}}, true},
		{"Stepped", shift{of: [4]int{0, 0, 1, 2}, machines: three(shifted{ahead: 3e9, fast: 100_000, laterAhead: 1e9}),
			say: "; that of 1 machine does not run evenly: its times are moved in pieces, which jump by 1.00 s at most"}, false},
		{"Drifting", shift{of: [4]int{0, 0, 1, 2}, machines: three(
			shifted{ahead: 3e9, fast: 100_000, laterFast: 500_000})}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
				t.Chdir(t.TempDir())
				s := tt.shift
				recordShifted(t, m, &s, tt.counter)
				checkShifted(t, &s)
			})
		})
	}
}

// TestMachinesWander records a program on two machines of which one has a clock that gains or loses up to 150
// µs every five milliseconds, which no 64 pieces follow: the clocks jump, so that no message arrives before
// it is sent. All times are right within the stated error, and merge, info and its JSON say so.
func TestMachinesWander(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		t.Chdir(t.TempDir())
		s := shift{of: [4]int{0, 0, 1, 1}, machines: []shifted{{}, {ahead: 3e9, fast: 100_000}},
			most: 150_000, every: 5e6}
		recordShifted(t, m, &s, false)
		run := opened(t, "run.rpz")
		clocks, jumps, pieces := run.Run().Clocks, 0, 0
		for _, c := range clocks {
			jumps, pieces = jumps+len(c.Jumps), pieces+len(c.Later)
		}
		var raw, calls [4][]event
		for rank := range s.of {
			raw[rank], calls[rank] = eventsOf(t, opened(t, fmt.Sprint(rank, ".rpz")), rank), eventsOf(t, run, rank)
		}
		must(t, "merge", "--part", "parts/rank0000003.part.rpz", "parts/rank0000001.part.rpz", "-o", "odd.part.rpz")
		must(t, "merge", "--part", "parts/rank0000000.part.rpz", "parts/rank0000002.part.rpz", "-o", "even.part.rpz")
		must(t, "merge", "odd.part.rpz", "even.part.rpz", "-o", "tree.rpz")
		if readFile(t, "run.rpz") != readFile(t, "tree.rpz") {
			t.Error("merged in two steps, it is another trace")
		}
		if jumps == 0 || pieces > 0 {
			t.Skip("messages took too long to tell that a clock wanders") // as on a busy machine
		}
		checkOrder(t, calls)
		for rank, k := range s.of {
			checkEvents(t, &s, rank, raw, calls[rank], clocks[k])
			if clocks[k].Early > 0 {
				t.Errorf("%d messages arrive before they are sent", clocks[k].Early)
			}
		}
		said := fmt.Sprintf("jump ahead %s, by ", text.Plural(jumps, "time"))
		if got := must(t, "info", "run.rpz"); !strings.Contains(got, said) {
			t.Error(got)
		}
		if got := must(t, "merge", "parts", "-o", "other.rpz"); !strings.Contains(got, said) {
			t.Error(got)
		} else {
			t.Log(got)
		}
		if got := must(t, "info", "--json", "run.rpz"); strings.Count(got, `"ahead_ns"`) != jumps {
			t.Errorf("%d jumps: %s", jumps, got)
		}
	})
}

// TestMachinesCollected collects the records of processes on several machines at one place: the trace is that
// which a merge makes of the part.
func TestMachinesCollected(t *testing.T) {
	m := theMPI(t)
	t.Chdir(t.TempDir())
	s := shift{of: [4]int{0, 0, 1, 2}, machines: []shifted{{}, {ahead: 3e9, fast: 100_000},
		{ahead: -2e9, fast: -100_000}}}
	s.begin, _ = now(t)
	cmd := recorder(t, m, []string{"--times", "exact", "-q", "-o", "run.rpz", "--keep-raw", "raw"},
		m.Launch(4, m.Build(t, "clocks.c"), "20")...)
	cmd.Env = append(cmd.Env, s.environment(buildMachines(t, m), "")...)
	if got := outcome(t, cmd); got.status != 0 {
		t.Fatalf("%+v", got)
	}
	must(t, "collect", "raw", "-q", "--times", "exact", "--parts", "parts")
	must(t, "merge", "parts", "-o", "merged.rpz")
	must(t, "collect", "raw", "-q", "--times", "exact", "-o", "collected.rpz")
	if readFile(t, "merged.rpz") != readFile(t, "collected.rpz") {
		t.Error("collect and merge make two traces")
	}
	for _, name := range []string{"run.rpz", "collected.rpz"} {
		if got := must(t, "info", name); !strings.Contains(got, "clocks: of 3 machines, aligned to ") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// buildMachines builds the library that puts processes on machines.
func buildMachines(t *testing.T, m *mpitest.MPI) string {
	t.Helper()
	return m.Build(t, "machines.c", "-shared", "-fPIC", "-Wno-parentheses", "-Wl,--as-needed")
}

// recordShifted records clocks.c on machines into the directory parts, and merges these to run.rpz and each
// alone to 0.rpz and so on.
func recordShifted(t *testing.T, m *mpitest.MPI, s *shift, counter bool) {
	t.Helper()
	rounds := "200"
	if s.every > 0 {
		rounds = "500" // so that clocks change more often than there are pieces
	}
	program := []string{m.Build(t, "clocks.c"), rounds}
	writeFile(t, "second", strings.Repeat("\x00", 16))
	if last := s.machines[1]; last.laterAhead != 0 || last.laterFast != 0 {
		program = append(program, "second")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.begin, s.real = now(t)
	line := append([]string{self, "record", "--times", "exact", "-q", "--parts", "parts", "--spool",
		t.TempDir(), "--"}, program...)
	line = m.Launch(4, line[0], line[1:]...)
	cmd := exec.CommandContext(t.Context(), line[0], line[1:]...)
	path, err := filepath.Abs("second")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC),
		s.environment(buildMachines(t, m), path)...)
	if counter {
		cmd.Env = append(cmd.Env, "MACHINES_COUNTER=1")
	}
	if got := outcome(t, cmd); got.status != 0 || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	if _, ahead := now(t); max(ahead-s.real, s.real-ahead) > 500 {
		t.Skipf("real time was set, by %d ns", ahead-s.real)
	}
	times := []byte(readFile(t, "second"))
	s.second = int64(binary.LittleEndian.Uint64(times))
	if told := int64(binary.LittleEndian.Uint64(times[8:])); told > s.second {
		t.Skipf("clocks change %d ns before the processes know it", told-s.second)
	}
	say := "clocks: of " + fmt.Sprint(len(s.machines), " machines, aligned to ")
	if got := must(t, "merge", "parts", "-o", "run.rpz"); !strings.Contains(got, say) || !strings.Contains(got, s.say) {
		t.Error(got)
	}
	if got := must(t, "info", "run.rpz"); !strings.Contains(got, say) || !strings.Contains(got, s.say) {
		t.Error(got)
	}
	must(t, "merge", "run.rpz", "-o", "again.rpz")
	if readFile(t, "run.rpz") != readFile(t, "again.rpz") {
		t.Error("merged again, it is another trace")
	}
	for rank := range 4 {
		invoke(t, "", "merge", fmt.Sprintf("parts/rank%07d.part.rpz", rank), "-o", fmt.Sprint(rank, ".rpz"))
	}
}

// An event is a call of a rank, by the clock of its machine.
type event struct {
	function   string
	start, end int64
}

// eventsOf returns the calls of a rank from the first MPI_Barrier to the last.
func eventsOf(t *testing.T, tr *trace.Trace, rank int) (list []event) {
	t.Helper()
	r, err := tr.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	for call, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		if name := call.Function.Name; name != "MPI_Finalize" && (len(list) > 0 || name == "MPI_Barrier") {
			list = append(list, event{name, call.Start, call.Start + call.Duration})
		}
	}
	return list
}

// A sighting is a message to a clock or from it, at a time of it, and how long it truly took.
type sighting struct{ at, took int64 }

// sightings returns the messages of a clock that tell of it, to it and from it, by its time: those of the
// program, and what ranks learn of each other by a barrier.
func (s *shift) sightings(k int, calls [4][]event) (to, from []sighting) {
	sends := map[string]bool{"MPI_Barrier": true, "MPI_Send": true, "MPI_Isend": true}
	receives := map[string]bool{"MPI_Barrier": true, "MPI_Recv": true, "MPI_Waitall": true}
	pick := func(rank int, which map[string]bool) []event {
		return slices.DeleteFunc(slices.Clone(calls[rank]), func(e event) bool { return !which[e.function] })
	}
	for rank, of := range s.of {
		other := rank ^ 2
		if of != k {
			continue
		}
		sent := pick(other, sends)
		for i, e := range pick(rank, receives) {
			to = append(to, sighting{e.end, s.truth(k, e.end) - s.truth(s.of[other], sent[i].start)})
		}
		received := pick(other, receives)
		for i, e := range pick(rank, sends) {
			from = append(from, sighting{e.start, s.truth(s.of[other], received[i].end) - s.truth(k, e.start)})
		}
	}
	earlier := func(a, b sighting) int { return cmp.Compare(a.at, b.at) }
	slices.SortFunc(to, earlier)
	slices.SortFunc(from, earlier)
	return to, from
}

// room returns how far two lines can be apart, from the begin to the end, that both lie between messages to a
// clock and from it: by the fastest of the first third, and of the last.
func room(to, from []sighting, begin, end int64) int64 {
	fastest := func(list []sighting) sighting {
		return slices.MinFunc(list, func(a, b sighting) int { return cmp.Compare(a.took, b.took) })
	}
	n, m := len(to)/3, len(from)/3
	to1, from1, to3, from3 := fastest(to[:n]), fastest(from[:m]), fastest(to[len(to)-n:]), fastest(from[len(from)-m:])
	// A line that is as far as can be on one side where one message is, and on the other side where the other
	// is, is so far off later.
	reach := func(near, far sighting, at int64) float64 {
		return float64(near.took) + float64(near.took+far.took)*math.Abs(float64(at-near.at))/math.Abs(
			float64(near.at-far.at))
	}
	return int64(max(reach(to1, from3, begin)+reach(from1, to3, begin), reach(to3, from1, end)+reach(from3, to1, end)))
}

// mostTold returns the most that the error of a clock may be said to be: as all messages leave it, or those
// of a sixteenth of the time alone, of the best, or those of the first quarter of the time, the half in the
// middle, or the last quarter, of the worst; with pieces, as those of a piece leave it. Of one that drifts
// otherwise from some time on, it is not known which messages a piece has.
func (s *shift) mostTold(k int, calls [4][]event) int64 {
	const reading = 1000 // the clocks
	to, from := s.sightings(k, calls)
	begin, end := min(to[0].at, from[0].at), max(to[len(to)-1].at, from[len(from)-1].at)
	least := int64(0) // if no sixteenth has enough messages
	for i := range int64(31) {
		at := func(i int64) int64 { return begin + i*(end-begin)/32 }
		if to, from := within(to, at(i), at(i+2)), within(from, at(i), at(i+2)); len(to) > 2 && len(from) > 2 {
			if far := room(to, from, at(i), at(i+2)); least == 0 || far < least {
				least = far
			}
		}
	}
	for _, w := range [][2]int64{{0, 8}, {8, 24}, {24, 33}} {
		first, last := begin+w[0]*(end-begin)/32, begin+w[1]*(end-begin)/32
		if to, from := within(to, first, last), within(from, first, last); len(to) > 2 && len(from) > 2 {
			least = max(least, room(to, from, min(to[0].at, from[0].at), max(to[len(to)-1].at, from[len(from)-1].at)))
		}
	}
	switch m := s.machines[k]; {
	case m.laterFast != 0:
		return math.MaxInt64
	case m.laterAhead == 0:
		return max(least, room(to, from, begin, end)) + reading
	}
	since := s.at(k, s.second+s.real)
	to1, from1, to2, from2 := within(to, begin, since), within(from, begin, since), within(to, since, end+1),
		within(from, since, end+1)
	first := room(to1, from1, begin, max(to1[len(to1)-1].at, from1[len(from1)-1].at))
	return max(least, first, room(to2, from2, min(to2[0].at, from2[0].at), end)) + 2*reading
}

// within returns those from one time to before another.
func within(list []sighting, from, to int64) []sighting {
	at := func(time int64) int {
		i, _ := slices.BinarySearchFunc(list, time, func(a sighting, at int64) int { return cmp.Compare(a.at, at) })
		return i
	}
	return list[at(from):max(at(from), at(to))]
}

// hidden returns a function that reports whether nothing tells of a time of a clock which piece it is of: no
// message is between it and where a piece of the clock or of its alignment begins.
func (s *shift) hidden(k int, calls [4][]event, c format.Clock) func(at int64) bool {
	var changes []int64
	if m := s.machines[k]; m.laterAhead != 0 || m.laterFast != 0 {
		changes = append(changes, s.at(k, s.second+s.real))
	}
	for _, piece := range c.Later {
		changes = append(changes, piece.Since)
	}
	to, from := s.sightings(k, calls)
	var told []int64
	for _, m := range append(to, from...) {
		told = append(told, m.at)
	}
	slices.Sort(told)
	return func(at int64) bool {
		for _, change := range changes {
			i, _ := slices.BinarySearch(told, change)
			if i > 0 && i < len(told) && told[i-1] < at && at < told[i] {
				return true
			}
		}
		return false
	}
}

// checkShifted checks the clocks of run.rpz, and the begins and ends of all its calls.
func checkShifted(t *testing.T, s *shift) {
	t.Helper()
	run := opened(t, "run.rpz")
	clocks := run.Run().Clocks
	if len(clocks) != len(s.machines) {
		t.Fatalf("clocks %+v", clocks)
	}
	var raw, calls [4][]event
	for rank := range s.of {
		raw[rank] = eventsOf(t, opened(t, fmt.Sprint(rank, ".rpz")), rank)
		calls[rank] = eventsOf(t, run, rank)
	}
	for k, c := range clocks {
		most := int64(0) // of the first, which is right
		if k > 0 {
			most = s.mostTold(k, raw)
		}
		if c.Error < 0 || c.Error > most {
			t.Errorf("clock %d: it says that it may be off by %d ns, not by %d at most: %+v", k, c.Error, most, c)
		}
		m, pieces := s.machines[k], len(c.Later)
		if pieces > 1 || pieces == 1 && m.laterAhead == 0 && m.laterFast == 0 || pieces == 0 && m.laterAhead != 0 {
			t.Errorf("clock %d has %d later pieces: %+v", k, pieces, c)
		}
	}
	for rank, k := range s.of {
		checkEvents(t, s, rank, raw, calls[rank], clocks[k])
	}
	checkOrder(t, calls)
}

// checkEvents checks the times of calls of a rank by what the clock of its machine said.
func checkEvents(t *testing.T, s *shift, rank int, raw [4][]event, calls []event, c format.Clock) {
	t.Helper()
	k, worst, unknown := s.of[rank], int64(0), 0
	hidden := s.hidden(k, raw, c)
	check := func(what string, i int, got, at int64) {
		if hidden(at) {
			unknown++
			return
		}
		off := got - s.at(0, s.truth(k, at))
		told := layout.ClockError(&c, got, got)
		if worst = max(worst, off, -off); max(off, -off) > told+1000 {
			t.Errorf("rank %d, call %d, %s: %s is off by %d ns, more than %d", rank, i, raw[rank][i].function,
				what, off, told)
		}
	}
	for i, e := range raw[rank] {
		check("the begin", i, calls[i].start, e.start)
		check("the end", i, calls[i].end, e.end)
	}
	t.Logf("rank %d: off by %d ns at most, %d told, %d of pieces, but for %d times", rank, worst, c.Error,
		c.Errors, unknown)
}

// checkOrder checks that nobody leaves a barrier before all have entered it, and that nothing is received
// before it is sent.
func checkOrder(t *testing.T, calls [4][]event) {
	t.Helper()
	var barriers [4][]event
	for rank, list := range calls {
		barriers[rank] = slices.DeleteFunc(slices.Clone(list), func(e event) bool {
			return e.function != "MPI_Barrier"
		})
	}
	for i := range barriers[0] {
		entered, left := barriers[0][i].start, barriers[0][i].end
		for _, list := range barriers {
			entered, left = max(entered, list[i].start), min(left, list[i].end)
		}
		if entered > left+2 {
			t.Errorf("barrier %d is left %d ns before all have entered", i, entered-left)
		}
	}
	same := shift{machines: []shifted{{}}, begin: calls[0][0].start}
	to, from := same.sightings(0, calls)
	for _, m := range append(to, from...) {
		if m.took < -2 {
			t.Errorf("a message is received %d ns before it is sent, at %d", -m.took, m.at)
		}
	}
}

func opened(t *testing.T, name string) *trace.Trace {
	t.Helper()
	tr, err := cli.OpenTrace(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}
