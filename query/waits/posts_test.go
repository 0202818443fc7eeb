package waits_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query/waits"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/trace/meaning"
)

// A lateName is a program whose calls that complete a receive tell what it is of.
type lateName struct{ posts bool }

func (lateName) Groups() []meaning.Group { return nil }

func (p lateName) Of(_ int, c *trace.Call) (o meaning.Operation) {
	switch c.Function.Name {
	case "MPI_Send":
		o.Sends = []meaning.Message{{Peer: 1, Bytes: 8}}
	case "MPI_Start":
		if p.posts {
			o.Posts = []int64{3}
		}
	case "MPI_Wait":
		o.Receives = []meaning.Message{{Peer: 0, Bytes: 8, Posted: 3}}
	}
	return o
}

// TestPosts has a receive that was posted before the send, and told after it: the sender does not wait for it.
func TestPosts(t *testing.T) {
	for _, posts := range []bool{false, true} {
		a, b := new(script), new(script)
		a.now = 10_000
		a.call(30, "MPI_Send")
		b.call(1, "MPI_Start")
		b.now = 30_000
		b.call(5, "MPI_Wait")
		tr := recorded(t, merge.Run{Ranks: 2}, exact, map[int]*script{0: a, 1: b})
		run, err := waits.Open(t.Context(), must.Get(semantics.OpenWith(tr, lateName{posts})), waits.Options{})
		want := 20_000.0
		if posts {
			want = 0
		}
		if err != nil || float64(run.Wait) != want {
			t.Errorf("posts %v: waits %v, %v, want %v", posts, run.Wait, err, want)
		}
	}
}
