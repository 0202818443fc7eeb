package merge

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
)

// TestRemainders compares the numbers of terminals without some of their slots with
// those of strings that say the same, of shapes of one rank and of two.
func TestRemainders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			s      = shape{ungrouped: rapid.Bool().Draw(t, "ungrouped")}
			slots  = rapid.IntRange(1, 5).Draw(t, "slots")
			ranks  = rapid.IntRange(1, 2).Draw(t, "ranks")
			small  = rapid.Int64Range(0, 2)
			groups = rapid.Bool().Draw(t, "grouped")
			first  = rapid.IntRange(0, slots-1).Draw(t, "without")
		)
		s.ranks = s.ranks.add(0, ranks-1)
		numbers := make(map[string]uint32)
		var want []uint32
		for range rapid.IntRange(0, 40).Draw(t, "terminals") {
			f := form{function: int(small.Draw(t, "function")), slots: slots}
			counted := slots
			if f.grouped = groups; groups {
				f.slots += groupSlots
				if counted = f.slots; s.ungrouped {
					counted = slots
				}
			}
			key := fmt.Sprint(f.function)
			for k := range f.slots {
				var c column
				for rank := range ranks {
					c.push(rank, rank, small.Draw(t, "value"))
				}
				if s.columns = append(s.columns, c); k != first && k < counted {
					key += fmt.Sprint(c)
				}
			}
			s.forms = append(s.forms, f)
			n, ok := numbers[key]
			if !ok {
				n = uint32(len(numbers))
				numbers[key] = n
			}
			want = append(want, n)
		}
		if ranks == 1 {
			for _, c := range s.columns {
				s.values = append(s.values, c.last.first)
			}
			s.columns = nil
		}
		r := newRemainders(&s, s.begins())
		var got []uint32
		for i := range s.forms {
			got = append(got, r.number(i, []int{first}))
		}
		if !slices.Equal(got, want) || len(r.of) != len(numbers) {
			t.Fatalf("numbers %v, want %v", got, want)
		}
	})
}

// TestValuesPerByte checks what different values of a varying argument take at the
// least, however regular they are.
func TestValuesPerByte(t *testing.T) {
	const n = 1 << 15
	for shift := 0; shift < 48; shift += 3 {
		var list []byte
		for v := range int64(n) {
			list = binary.AppendVarint(list, v<<shift)
		}
		var size layout.Counter
		w := format.NewWriter(&size, format.Options{})
		w.Add(layout.KindSignatures, 0, list)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if int(size) < n/valuesPerByte {
			t.Errorf("%d multiples of 2^%d in %d bytes, want at least %d", n, shift, size, n/valuesPerByte)
		}
	}
}
