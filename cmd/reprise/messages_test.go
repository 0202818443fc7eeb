package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/query"
)

// TestMessagesUnknown asks for messages and collective operations of which the trace does not
// tell everything: what is not known is counted as such.
func TestMessagesUnknown(t *testing.T) {
	checker := jsonChecker{t, jsonTypes(t), make(map[string]bool)}
	t.Chdir(t.TempDir())
	// 58 is a derived datatype. Counts for three ranks are not those of a run of two.
	writeFile(t, "in.ti", `0 init
1 init
0 send 1 0 5 58
1 recv 0 0 5 58
0 bcast 7 0 58 
1 bcast 7 0 58 
0 allgatherv 3 1 2 3 1 1
1 allgatherv 3 1 2 3 1 1
0 scan 5 0 1 
1 scan 5 0 1 
0 finalize
1 finalize
`)
	must(t, "compress", "in.ti", "-o", "in.rpz")
	got := must(t, "messages", "in.rpz")
	for _, want := range []string{
		"in.rpz: 1 message, unknown\n", "collective operations: 2 blocks, ≥ 20 B\n",
		"1 message of unknown size\n", "1 block of unknown size\n",
		"2 collective calls with unknown ranks, not counted\n", "each higher", "others of 0-1",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q in:\n%s", want, got)
		}
	}
	var a struct {
		query.Volume
		Uncounted uint64               `json:"collective_calls_of_unknown_ranks"`
		Uniform   []query.UniformPairs `json:"uniform_pairs"`
	}
	text := must(t, "messages", "in.rpz", "--json")
	checker.object("messages", text)
	text = strings.ReplaceAll(text, `"communicator": "world",`, "") // which is written only
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	if want := (query.Blocks{Blocks: 2, Bytes: 20, Unknown: 1}); a.Exchanged != want || a.Uncounted != 2 ||
		len(a.Uniform) != 2 {
		t.Errorf("%+v", a)
	}
	for _, u := range a.Uniform {
		if u.Higher != (u.Blocks.Unknown == 0) {
			t.Errorf("%+v", u)
		}
	}
}
