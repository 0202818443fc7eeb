package replay_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// boundedTo returns a trace made to fit a size, of share thousandths from the least possible to its own.
func boundedTo(t testtrace.TB, whole *trace.Trace, share int64) *trace.Trace {
	t.Helper()
	write := func(size int64) ([]byte, error) {
		var a merge.Accumulator
		if err := a.Describe(merge.Run{Ranks: whole.Ranks()}); err != nil {
			t.Fatal(err)
		}
		if err := whole.AddTo(ctx, &a); err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		err := a.WriteBounded(ctx, &file, size, spec.Keep)
		return file.Bytes(), err
	}
	_, err := write(1)
	least := new(merge.BoundError)
	if !errors.As(err, &least) {
		t.Fatal(err)
	}
	file, err := write(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	if all := int64(len(file)); all > least.Least {
		if file, err = write(least.Least + (all-least.Least)*share/1000); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// condensed returns a trace of which the ranks hold no more than a share, in thousandths, of what they held.
func condensed(t testtrace.TB, whole *trace.Trace, share int) *trace.Trace {
	t.Helper()
	var parts []merge.Part
	for rank := range whole.Ranks() {
		p, err := whole.Part(rank)
		if err == nil {
			p, err = (&merge.Condenser{Keep: spec.Keep}).Condense(p, p.Held()*share/1000)
		}
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	return testtrace.Write(t, merge.Run{Ranks: whole.Ranks()}, parts)
}

// cluster returns a machine on which communication takes time.
func cluster(t testtrace.TB, tr *trace.Trace) replay.Machine {
	t.Helper()
	m, err := loggps.New(loggps.Default(), tr.Ranks(), replay.Instant{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A total is what calls and messages there are in all.
type total struct{ calls, messages uint64 }

func totalOf(r *replay.Result) total {
	return total{r.Calls, r.Messages + r.Unreceived + r.Outside}
}

// testBoundedPrograms replays random programs in traces that were made to fit a size: each comes to its end,
// with all of its calls and messages, and to the same each time; another seed may come to another end.
func testBoundedPrograms(t *rapid.T, drawn *int) {
	whole, _ := newProgram(seeded(rapid.Uint64().Draw(t, "seed")), rapid.IntRange(100, 400).Draw(t, "steps")).trace(t)
	tr := condensed(t, whole, rapid.IntRange(0, 500).Draw(t, "share"))
	if !tr.Content().Exact {
		*drawn++
	}
	exact, err := replay.Run(ctx, open(t, whole), replay.Instant{})
	if err != nil {
		t.Fatal(err)
	}
	model := open(t, tr)
	for _, m := range []replay.Machine{replay.Instant{}, replay.Instant{Synchronous: true}, cluster(t, tr)} {
		for seed := range uint64(2) {
			o := replay.Options{Seed: seed}
			r, err := replay.RunWith(ctx, model, m, o)
			if err != nil {
				t.Fatalf("%T, seed %d: %v", m, seed, err)
			}
			if got, want := totalOf(r), totalOf(exact); got != want {
				t.Fatalf("%T, seed %d: %+v, not %+v", m, seed, got, want)
			}
			if again, err := replay.RunWith(ctx, model, m, o); err != nil || !reflect.DeepEqual(r, again) {
				t.Fatalf("another result: %v", err)
			}
		}
	}
}

func TestBoundedPrograms(t *testing.T) {
	tier.Long(t, "traces are written many times to fit")
	drawn := 0
	rapid.Check(t, func(t *rapid.T) { testBoundedPrograms(t, &drawn) })
	if t.Log(drawn, "traces with calls that are drawn"); drawn < 10 {
		t.Error("most traces are exact")
	}
}

// TestBoundedTags replays receives, and probes, in order of messages that are sent in a stretch: they match,
// although the tags of the messages are not known.
func TestBoundedTags(t *testing.T) {
	for name, receive := range map[string]func(r *testtrace.Recording, tag int){
		"receives": func(r *testtrace.Recording, tag int) {
			r.MPI(1, "MPI_Recv", "count", 1, "datatype", "MPI_BYTE", "source", 0, "tag", tag, "comm", world)
		},
		"probes": func(r *testtrace.Recording, tag int) {
			r.MPI(1, "MPI_Mprobe", "source", 0, "tag", tag, "comm", world, "message", 0)
			r.MPI(1, "MPI_Mrecv", "count", 1, "datatype", "MPI_BYTE", "message", 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			const messages = 20
			var sender, receiver testtrace.Recording
			for i := range messages {
				sender.MPI(1, "MPI_Send", "count", 1, "datatype", "MPI_BYTE", "dest", 1, "tag", 1000+i/2, "comm", world)
				receive(&receiver, i)
			}
			parts := []merge.Part{sender.Finish(0), receiver.Finish(1)}
			parts[0].Bounded = &format.Bounded{Stretches: map[int][]format.Stretch{0: {{Calls: messages}}}}
			r, err := replay.Run(ctx, open(t, testtrace.Write(t, merge.Run{Ranks: 2}, parts)), replay.Instant{})
			if err != nil || r.Messages != messages || r.Unreceived > 0 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

// TestBoundedMessages replays programs that send at random, made to fit: what is received is what is sent.
func TestBoundedMessages(t *testing.T) {
	tier.Long(t, "traces are written many times to fit")
	for _, p := range []programs.Program{programs.RandomMessages(8, 300, 1), programs.RandomAlltoallv(8, 80, 1)} {
		whole := testtrace.Write(t, p.Run(), p.Parts())
		exact, err := replay.Run(ctx, open(t, whole), cluster(t, whole))
		if err != nil {
			t.Fatal(err)
		}
		ends := []replay.Time{exact.End}
		for _, share := range []int64{0, 100} {
			tr := boundedTo(t, whole, share)
			if tr.Content().Exact {
				t.Errorf("%s: all is exact", p.Name)
			}
			for seed := range uint64(2) {
				r, err := replay.RunWith(ctx, open(t, tr), cluster(t, tr), replay.Options{Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				if r.Messages != exact.Messages || r.Calls != exact.Calls ||
					r.Collectives != exact.Collectives || r.Unreceived > 0 {
					t.Errorf("%s: %+v, not %+v", p.Name, r, exact)
				}
				ends = append(ends, r.End)
			}
		}
		t.Log(p.Name, ends)
	}
}
