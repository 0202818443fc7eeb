package semantics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/trace/meaning"
)

// An ownTable says what calls mean by the names of their functions.
type ownTable struct {
	groups []meaning.Group
	means  map[string]meaning.Operation
}

func (o ownTable) Groups() []meaning.Group { return o.groups }

func (o ownTable) Of(_ int, c *trace.Call) meaning.Operation { return o.means[c.Function.Name] }

// ownTrace returns a trace of three ranks that call f.
func ownTrace(t *testing.T) *trace.Trace {
	calls := []testtrace.Call{{Function: testtrace.Function("f"), Duration: 1}}
	return testtrace.Record(t, merge.Run{}, false, [][]testtrace.Call{calls, calls, calls})
}

// TestOwnGroups opens a trace with groups that cannot be.
func TestOwnGroups(t *testing.T) {
	for _, tt := range []struct {
		groups []meaning.Group
		want   string
	}{
		{[]meaning.Group{{Name: "a", Ranks: []int{2, 0}}, {Name: "b"}}, ""},
		{[]meaning.Group{{Ranks: []int{0}}}, `a group is called "", as that of all ranks`},
		{[]meaning.Group{{Name: "world", Ranks: []int{0}}}, `a group is called "world", as that of all ranks`},
		{[]meaning.Group{{Name: "a"}, {Name: "a"}}, `two groups are called "a"`},
		{[]meaning.Group{{Name: "a", Ranks: []int{0, 3}}}, `group "a": the run has no rank 3`},
		{[]meaning.Group{{Name: "a", Ranks: []int{-1}}}, `group "a": the run has no rank -1`},
		{[]meaning.Group{{Name: "a", Ranks: []int{1, 2, 1}}}, `group "a": rank 1 is there twice`},
	} {
		_, err := OpenWith(ownTrace(t), ownTable{groups: tt.groups})
		if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.HasSuffix(got, tt.want) {
			t.Errorf("%v: %v, want %s", tt.groups, err, tt.want)
		}
	}
}

// TestOwnMessages checks what messages mean of which something cannot be, or is not known.
func TestOwnMessages(t *testing.T) {
	for _, tt := range []struct {
		send bool
		of   meaning.Message
		want string // peer, tag, bytes, whether the group is known
	}{
		{true, meaning.Message{Peer: 2, Tag: 3, Bytes: 4}, "2 3 4 true"},
		{true, meaning.Message{Peer: 2, Tag: 3, Group: "a"}, "2 3 0 true"},
		{true, meaning.Message{Peer: 1, Tag: 3, Group: "a"}, "-2 3 0 true"}, // who is not of the group
		{true, meaning.Message{Peer: 2, Group: "b"}, "2 0 0 false"},         // of which the caller is not
		{true, meaning.Message{Peer: 2, Group: "c"}, "-2 0 0 false"},        // there is none
		{true, meaning.Message{Peer: 3}, "-2 0 0 true"},
		{true, meaning.Message{Peer: meaning.AnyRank, Tag: meaning.AnyTag, Bytes: meaning.Unknown}, "-2 -2 -1 true"},
		{false, meaning.Message{Peer: meaning.AnyRank, Tag: meaning.AnyTag, Bytes: -9}, "-1 -1 -1 true"},
		{false, meaning.Message{Peer: meaning.Unknown, Tag: meaning.Unknown}, "-2 -2 0 true"},
		{false, meaning.Message{Peer: -9, Tag: -9}, "-2 -2 0 true"},
	} {
		var m meaning.Operation
		if tt.send {
			m.Sends = []meaning.Message{tt.of}
		} else {
			m.Receives = []meaning.Message{tt.of}
		}
		got := ownOperation(t, m).Messages[0]
		if is := fmt.Sprint(got.Peer, got.Tag, got.Bytes, got.Communicator != nil); is != tt.want {
			t.Errorf("%+v: %s, want %s", tt.of, is, tt.want)
		}
	}
}

// ownOperation returns what a call of rank 0 means, which is of group a, but not of b.
func ownOperation(t *testing.T, m meaning.Operation) *Operation {
	t.Helper()
	table := ownTable{
		groups: []meaning.Group{{Name: "a", Ranks: []int{2, 0}}, {Name: "b", Ranks: []int{1, 2}}},
		means:  map[string]meaning.Operation{"f": m},
	}
	model, err := OpenWith(ownTrace(t), table)
	if err != nil {
		t.Fatal(err)
	}
	rank, err := model.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	if got := rank.Computes(0); got != max(m.Computes, 0) {
		t.Errorf("computes %v, want %v", got, m.Computes)
	}
	return rank.At(0, 0)
}

// TestOwnOperations checks what calls mean with several things in them, and without any.
func TestOwnOperations(t *testing.T) {
	message := meaning.Message{Peer: 1, Request: 4}
	for _, tt := range []struct {
		of   meaning.Operation
		want string // class, messages, begins, completes, collective operations with a communicator
	}{
		{meaning.Operation{}, "nothing"},
		{meaning.Operation{Computes: time.Second}, "nothing"},
		{meaning.Operation{Computes: -time.Second}, "nothing"},
		{meaning.Operation{Completes: []int64{4, 0, -1, 4}}, "completion 0 [] [4 4] 0"},
		{meaning.Operation{Sends: []meaning.Message{message, message}, Completes: []int64{5}},
			"point-to-point 2 [4] [5] 0"},
		{meaning.Operation{Sends: []meaning.Message{message}, Receives: []meaning.Message{{}},
			Collective: &meaning.Collective{Request: 6}}, "point-to-point 2 [6 4] [] 1"},
		{meaning.Operation{Collective: &meaning.Collective{Request: 6}, More: []*meaning.Collective{{}, {Request: 7}}},
			"collective 0 [6 7] [] 3"},
		{meaning.Operation{Collective: &meaning.Collective{Group: "b"}}, "collective 0 [] [] 0"},
		{meaning.Operation{Collective: &meaning.Collective{Group: "a", Kind: meaning.ToRoot, Root: 1}},
			"collective 0 [] [] 0"},
		{meaning.Operation{Collective: &meaning.Collective{Group: "a", Kind: meaning.ToRoot, Root: 2}},
			"collective 0 [] [] 1"},
		{meaning.Operation{Collective: &meaning.Collective{Group: "a", Kind: 9}}, "collective 0 [] [] 0"},
	} {
		got := "nothing"
		if o := ownOperation(t, tt.of); o != nil {
			known := 0
			for _, p := range append([]*Operation{o}, o.More...) {
				if p.IsCollective() && p.Communicator != nil && (p.Root >= 0 || p.Role.Gets.Of != "root") {
					known++
				}
			}
			got = fmt.Sprint(o.Class, len(o.Messages), o.Begins, o.Completes, known)
		}
		if got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.of, got, tt.want)
		}
	}
}
