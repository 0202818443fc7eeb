package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/textcases"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// machines are those that cases name.
var machines = map[string]replay.Machine{
	"": replay.Instant{}, "synchronous": replay.Instant{Synchronous: true},
	"late": late{}, "slow": slow{}, "quick": quick{}, "sized": sized{}, "costs": costs{},
}

// setups are calls before those of a program: an intercommunicator, 1, between ranks 0 and 1, and 2 and 3.
var setups = map[string]string{"": "", "intercomm": `0-1: MPI_Comm_split color=0 newcomm=0
2-3: MPI_Comm_split color=1 newcomm=0
0-1: MPI_Intercomm_create local_comm=0 local_leader=0 remote_leader=2 tag=1 newintercomm=1
2-3: MPI_Intercomm_create local_comm=0 local_leader=0 remote_leader=0 tag=1 newintercomm=1
`}

// late is a machine on which a rank computes as many microseconds as its number before each
// call, and messages take a tenth of that.
type late struct{ replay.Instant }

func (late) Compute(c *replay.Call) (before, within replay.Time) {
	return replay.Time(c.Rank.Number()) * replay.Microsecond, 0
}

func (late) Message(*replay.Message) replay.Cost {
	return replay.Cost{Transfer: 100 * replay.Nanosecond}
}

// slow is a machine like late on which a message takes 10 µs, and its receiver 1 µs more.
type slow struct{ late }

func (slow) Message(*replay.Message) replay.Cost {
	return replay.Cost{Transfer: 10 * replay.Microsecond, Receive: replay.Microsecond}
}

// quick is a machine on which a message or an access takes a microsecond, and nothing else takes time.
type quick struct{ replay.Instant }

func (quick) Message(*replay.Message) replay.Cost { return replay.Cost{Transfer: replay.Microsecond} }

// sized is a machine like quick on which a call of MPI_Comm_size takes a microsecond.
type sized struct{ quick }

func (sized) Compute(c *replay.Call) (before, within replay.Time) {
	if c.Local {
		return 0, replay.Microsecond
	}
	return 0, 0
}

// costs is a machine on which messages cost their sender 1 µs, their receiver 2 µs, and take 10 µs between;
// above 500 bytes, senders wait for receivers.
type costs struct{ replay.Instant }

func (costs) Message(m *replay.Message) replay.Cost {
	return replay.Cost{Send: replay.Microsecond, Transfer: 10 * replay.Microsecond,
		Receive: 2 * replay.Microsecond, Rendezvous: m.Bytes > 500}
}

// delayed is a machine that computes before some calls, by rank and position.
type delayed struct {
	replay.Machine
	before map[[2]int]time.Duration
}

func (m delayed) Compute(c *replay.Call) (before, within replay.Time) {
	before, within = m.Machine.Compute(c)
	return before + replay.Time(m.before[[2]int{c.Rank.Number(), int(c.Position)}])*replay.Nanosecond, within
}

// micro returns a time in microseconds, as a number.
func micro(t replay.Time) string { return fmt.Sprint(float64(t) / float64(replay.Microsecond)) }

// TestCases replays programs, and compares when their ranks end, in microseconds, or who waits for what if
// they cannot go on. The programs are those of [testtrace.Program], or lines of SimGrid if a case does not
// say how many ranks there are. With show=path, the critical path is compared, too, with show=messages, who
// sent each message, and the calls that sent and received it.
func TestCases(t *testing.T) {
	for _, name := range []string{"deadlocks", "locks", "times", "simgrid", "paths", "intercommunicators",
		"choices", "flight"} {
		t.Run(name, func(t *testing.T) { textcases.Run(t, "testdata/"+name+".txt", replayed) })
	}
}

// replayed returns what becomes of the program of a case.
func replayed(t *testing.T, c textcases.Case) string {
	machine, ok := machines[c.Arg("machine")]
	if !ok {
		t.Fatalf("%s: there is no machine %s", c.At, c.Arg("machine"))
	}
	model := (*semantics.Model)(nil)
	if ranks := c.Int(t, "ranks", 0); ranks == 0 {
		model = open(t, testtrace.TI(t, c.Input))
	} else {
		parts, before := testtrace.Program(t, ranks, setups[c.Arg("setup")]+c.Input)
		model = open(t, testtrace.Write(t, merge.Run{Ranks: ranks}, parts))
		if len(before) > 0 {
			machine = delayed{machine, before}
		}
	}
	var met []string
	var last error
	for event, err := range replay.Events(ctx, model, machine) {
		if last = err; err == nil && event.Message != nil {
			met = append(met, fmt.Sprintf("%d.%d→%d\n", event.Message.From, event.Call.Position,
				event.Receive.Position))
		}
	}
	res, err := replay.Run(ctx, model, machine)
	if err != nil {
		for _, w := range isDeadlock(t, err).Waiting {
			for _, wait := range w.Waits {
				if c.Arg("setup") == "intercomm" && wait.Communicator.Size() != 4 {
					t.Errorf("on %s, of %d ranks", wait.Communicator.Name, wait.Communicator.Size())
				}
			}
		}
		if last == nil || last.Error() != err.Error() {
			t.Errorf("with events: %v", last)
		}
		return strings.NewReplacer(": ", ":\n", "; ", ";\n").Replace(
			strings.TrimPrefix(err.Error(), "replay: deadlock, "))
	}
	testPath(t, model, machine)
	out := "ends:"
	for _, r := range res.Ranks {
		out += " " + micro(r.End)
	}
	out += "\n"
	if res.Unknown+res.Unreceived > 0 {
		out += fmt.Sprintf("%d unknown, %d not received\n", res.Unknown, res.Unreceived)
	}
	switch c.Arg("show") {
	case "messages":
		slices.Sort(met)
		out += strings.Join(met, "")
	case "path":
		if res, err = replay.RunWith(ctx, model, machine, replay.Options{CriticalPath: true}); err != nil {
			t.Fatal(err)
		}
		for _, r := range res.Path.Ranks {
			if r.Computing+r.Calls > 0 {
				out += fmt.Sprintf("path: rank %d computes %s, calls %s\n", r.Rank, micro(r.Computing), micro(r.Calls))
			}
		}
	}
	return out
}
