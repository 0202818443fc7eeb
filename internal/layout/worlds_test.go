package layout

import (
	"bytes"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// FuzzWorlds checks that what is accepted is encoded as it was, if by the shortest numbers, and
// sound.
func FuzzWorlds(f *testing.F) {
	f.Add([]byte("\x02\x00\x00\x05\x01\x07"))
	f.Add(AppendWorlds(nil, []format.World{{Parent: -1}, {First: 2, Parent: 1, Spawn: 1},
		{First: MaxRanks - 1, Parent: MaxRanks - 1, Spawn: MaxRanks}}))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		list, err := ParseWorlds(data)
		if err != nil {
			return
		}
		if err := CheckWorlds(list, MaxRanks); err != nil {
			t.Fatal(err)
		}
		if got := AppendWorlds(nil, list); !bytes.Equal(got, data) && len(got) >= len(data) {
			t.Fatalf("%x of %x", got, data)
		}
		if merged := MergeWorlds(list, list); len(merged) != len(list) {
			t.Fatalf("%+v merged with itself is %+v", list, merged)
		}
	})
}
