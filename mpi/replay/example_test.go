package replay_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A network takes 2 µs for a message, and 1 ns for each byte.
type network struct{ replay.Instant }

func (network) Message(m *replay.Message) replay.Cost {
	return replay.Cost{Transfer: 2*replay.Microsecond + replay.Time(max(m.Bytes, 0))*replay.Nanosecond}
}

func (network) Compute(c *replay.Call) (before, within replay.Time) {
	return 5 * replay.Microsecond, 0
}

const ring = `0 init
0 send 1 0 1000 6
0 recv 2 0 1000 6
0 finalize
1 init
1 recv 0 0 1000 6
1 send 2 0 1000 6
1 finalize
2 init
2 recv 1 0 1000 6
2 send 0 0 1000 6
2 finalize
`

// testTrace stands for a trace that is opened.
var testTrace = testtrace.TI(fatal{}, ring)

type fatal struct{}

func (fatal) Helper()           {}
func (fatal) Fatal(args ...any) { log.Fatal(args...) }

// Collective has an operation take 1 µs after the members have entered that each needs.
func (network) Collective(c *replay.Collective) {
	c.Earliest()
	for _, member := range c.Leaving {
		c.Leave[member] += replay.Microsecond
	}
}

func ExampleCollective_Earliest() {
	c := replay.Collective{
		Role: spec.RoleOf("MPI_Bcast"), Root: 0,
		Enter: []replay.Time{3 * replay.Microsecond, replay.Microsecond, 5 * replay.Microsecond},
		Leave: make([]replay.Time, 3), Leaving: []int{0, 1, 2},
	}
	c.Earliest()
	fmt.Println(c.Leave)
	// Output: [3µs 3µs 5µs]
}

func ExampleRun() {
	model, err := semantics.Open(context.Background(), testTrace)
	if err != nil {
		log.Fatal(err)
	}
	result, err := replay.Run(context.Background(), model, network{})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range result.Ranks {
		fmt.Println("rank", r.Rank, "ends after", r.End, "and waits", r.Waiting)
	}
	// Output:
	// rank 0 ends after 34µs and waits 14µs
	// rank 1 ends after 23µs and waits 3µs
	// rank 2 ends after 31µs and waits 11µs
}

func ExampleRunWith() {
	trace := testTrace
	model, err := semantics.Open(context.Background(), trace)
	if err != nil {
		log.Fatal(err)
	}
	result, err := replay.RunWith(context.Background(), model, network{}, replay.Options{CriticalPath: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range result.Path.Steps {
		fmt.Println(trace.Signature(s.Signature), "computing", s.Computing, "in calls", s.Calls)
	}
	// Output:
	// init() computing 5µs in calls 0s
	// send(destination=(rank+1) mod N, tag=0, count=1000, type=datatype#6) computing 15µs in calls 0s
	// recv(source=(rank-1) mod N, tag=0, count=1000, type=datatype#6) computing 0s in calls 9µs
	// finalize() computing 5µs in calls 0s
}

func ExampleEvents() {
	model, err := semantics.Open(context.Background(), testTrace)
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range replay.Events(context.Background(), model, network{}) {
		if err != nil {
			log.Fatal(err)
		}
		if m := event.Message; m != nil {
			fmt.Println(event.At, m.Bytes, "bytes from", m.From, "to", m.To)
		}
	}
	// Output:
	// 13µs 1000 bytes from 0 to 1
	// 21µs 1000 bytes from 1 to 2
	// 29µs 1000 bytes from 2 to 0
}

func ExampleDeadlockError() {
	const wrong = "0 init\n0 send 1 9 10 6\n0 finalize\n1 init\n1 recv 0 8 10 6\n1 finalize\n"
	model, err := semantics.Open(context.Background(), testtrace.TI(fatal{}, wrong))
	if err != nil {
		log.Fatal(err)
	}
	_, err = replay.Run(context.Background(), model, replay.Instant{})
	fmt.Println(err)
	var deadlock *replay.DeadlockError
	if errors.As(err, &deadlock) {
		for _, w := range deadlock.Waiting {
			fmt.Println(w.Call.Rank.Number(), w.Waits[0].For == replay.ForMessage, w.Waits[0].Ranks)
		}
	}
	// Output:
	// replay: deadlock, 1 call can never go on: rank 1 in recv, its call 1, waits for a message from rank 0, tag 8 (rank 0 sent one with tag 9, which it does not receive)
	// 1 true 0
}
