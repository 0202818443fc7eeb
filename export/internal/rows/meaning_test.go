package rows

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// TestSeveralMessages checks the columns of operations of several messages: they have
// what all messages of a direction have in common, and the sum of their bytes.
func TestSeveralMessages(t *testing.T) {
	message := func(d semantics.Direction, peer int, tag, bytes int64) semantics.Message {
		return semantics.Message{Direction: d, Peer: peer, Tag: tag, Bytes: bytes}
	}
	send, receive := semantics.Send, semantics.Receive
	for _, tt := range []struct {
		name      string
		operation semantics.Operation
		want      map[string]int64 // all that there are
	}{
		{"Both", semantics.Operation{Messages: []semantics.Message{message(send, 1, 7, 10),
			message(receive, 2, 8, 20)}},
			map[string]int64{"send_to": 1, "send_tag": 7, "send_bytes": 10, "recv_from": 2, "recv_tag": 8,
				"recv_bytes": 20}},
		{"OtherPeers", semantics.Operation{Messages: []semantics.Message{message(send, 1, 7, 10),
			message(send, 2, 7, 20)}},
			map[string]int64{"send_tag": 7, "send_bytes": 30}},
		{"OtherTags", semantics.Operation{Messages: []semantics.Message{message(receive, 1, 7, 10),
			message(send, 9, 9, 9), message(receive, 1, 8, 10)}},
			map[string]int64{"send_to": 9, "send_tag": 9, "send_bytes": 9, "recv_from": 1, "recv_bytes": 20}},
		{"Unknown", semantics.Operation{Messages: []semantics.Message{message(send, semantics.NoPeer,
			semantics.AnyTag, semantics.Unknown), message(send, 1, 1, 1)}},
			map[string]int64{}},
		{"UnknownLast", semantics.Operation{Messages: []semantics.Message{message(send, 1, 1, 1),
			message(send, semantics.NoPeer, semantics.NoTag, semantics.Unknown)}},
			map[string]int64{}},
		{"TooMany", semantics.Operation{Messages: []semantics.Message{message(send, 1, 1, 1<<62),
			message(send, 1, 1, 1<<62)}},
			map[string]int64{"send_to": 1, "send_tag": 1}},
		{"OneSided", semantics.Operation{Class: spec.OneSided,
			Messages: []semantics.Message{message(semantics.Fetch, 3, 0, 8)}},
			map[string]int64{"target": 3, "put_bytes": 8, "get_bytes": 8}},
		{"Get", semantics.Operation{Class: spec.OneSided,
			Messages: []semantics.Message{message(semantics.Get, 3, 0, 8)}},
			map[string]int64{"target": 3, "get_bytes": 8}},
		{"Collective", semantics.Operation{Class: spec.Collective, Root: 2, Sent: 5, Received: semantics.Unknown},
			map[string]int64{"collective_sent_bytes": 5, "root": 2}},
		{"Barrier", semantics.Operation{Class: spec.Collective},
			map[string]int64{"collective_sent_bytes": 0, "collective_received_bytes": 0}},
		{"File", semantics.Operation{Class: spec.Access, Sent: 7},
			map[string]int64{"file_written_bytes": 7, "file_read_bytes": 0}},
	} {
		if tt.operation.Root == 0 {
			tt.operation.Root = -1
		}
		for _, c := range meaningColumns() {
			if c.Type != Int {
				continue
			}
			got := c.cell(&code{operation: &tt.operation})
			if want, ok := tt.want[c.Name]; got.Valid != ok || got.Int != want {
				t.Errorf("%s: %s is %v, want %d, %t", tt.name, c.Name, got, want, ok)
			}
		}
	}
	columns := meaningColumns()
	for _, c := range columns {
		if c.cell(&code{}).Valid {
			t.Errorf("%s of a call that means nothing", c.Name)
		}
	}
	if !slices.ContainsFunc(columns, func(c *Column) bool { return c.Name == "communicator" }) {
		t.Error("no communicator")
	}
}
