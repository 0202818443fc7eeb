package replay_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/internal/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/replay"
	"github.com/reprise-trace/reprise/replay/loggps"
)

// boundedTo returns a trace made to fit a size, of share thousandths from the least possible to its own.
func boundedTo(t testtrace.TB, whole *reprise.Trace, share int64) *reprise.Trace {
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
		err := a.WriteBounded(ctx, &file, size)
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
	trace, err := reprise.OpenReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// cluster returns a machine on which communication takes time.
func cluster(t testtrace.TB, trace *reprise.Trace) replay.Machine {
	t.Helper()
	m, err := loggps.New(loggps.Default(), trace.Ranks(), replay.Instant{})
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
func testBoundedPrograms(t *rapid.T) {
	intn := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
	whole, _ := newProgram(intn, rapid.IntRange(20, 80).Draw(t, "steps")).trace(t)
	trace := boundedTo(t, whole, rapid.Int64Range(0, 999).Draw(t, "share"))
	exact, err := replay.Run(ctx, open(t, whole), replay.Instant{})
	if err != nil {
		t.Fatal(err)
	}
	model := open(t, trace)
	for _, m := range []replay.Machine{replay.Instant{}, replay.Instant{Synchronous: true}, cluster(t, trace)} {
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
	if testing.Short() {
		t.Skip("short: traces are written many times to fit")
	}
	rapid.Check(t, testBoundedPrograms)
}

// TestBoundedMessages replays programs that send at random, made to fit: what is received is what is sent.
func TestBoundedMessages(t *testing.T) {
	if testing.Short() {
		t.Skip("short: traces are written many times to fit")
	}
	for _, p := range []programs.Program{programs.RandomMessages(8, 300, 1), programs.RandomAlltoallv(8, 80, 1)} {
		whole := testtrace.Write(t, p.Run(), p.Parts())
		exact, err := replay.Run(ctx, open(t, whole), cluster(t, whole))
		if err != nil {
			t.Fatal(err)
		}
		ends := []replay.Time{exact.End}
		for _, share := range []int64{0, 100} {
			trace := boundedTo(t, whole, share)
			if trace.IsExact() {
				t.Errorf("%s: all is exact", p.Name)
			}
			for seed := range uint64(2) {
				r, err := replay.RunWith(ctx, open(t, trace), cluster(t, trace), replay.Options{Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				if r.Messages != exact.Messages || r.Calls != exact.Calls || r.Collectives != exact.Collectives || r.Unreceived > 0 {
					t.Errorf("%s: %+v, not %+v", p.Name, r, exact)
				}
				ends = append(ends, r.End)
			}
		}
		t.Log(p.Name, ends)
	}
}
