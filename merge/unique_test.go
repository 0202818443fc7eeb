package merge

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/format"
)

// TestWriteUnique checks ranks no two calls of which have the same arguments, of
// which there are so many that large versions of the trace are not held, and what is
// added after writing.
func TestWriteUnique(t *testing.T) {
	n := maxHeld + 3
	if Racing {
		n /= 16
	}
	for _, tt := range []struct{ program, ranks int }{{0, 1}, {0, 2}, {1, 1}, {2, 1}} {
		unique := uniqueCalls[tt.program]
		t.Run(fmt.Sprintf("%s/%d", unique.name, tt.ranks), func(t *testing.T) {
			var (
				a     Accumulator
				b     bytes.Buffer
				parts []Part
			)
			for rank := range tt.ranks {
				p := uniquePart(rank, n, unique.arguments)
				parts = append(parts, p)
				if err := a.Add(p); err != nil {
					t.Fatal(err)
				}
				b.Reset()
				if err := a.Write(&b); err != nil {
					t.Fatal(err)
				}
			}
			want := write(t, Run{Ranks: len(parts)}, parts)
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%d bytes, not the %d of a trace that is written once", b.Len(), len(want))
			}
			trace := open(t, want)
			checkCalls(t, trace, parts)
			if tt.program == 0 && trace.signatures.streams != nil {
				t.Error("a column that takes a few bytes is a stream")
			}
		})
	}
}

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
				s.values = append(s.values, c[0].first)
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

// TestValuesPerByte checks what different values of an elastic argument take at the
// least, however regular they are.
func TestValuesPerByte(t *testing.T) {
	const n = 1 << 15
	for shift := 0; shift < 48; shift += 3 {
		var list []byte
		for v := range int64(n) {
			list = binary.AppendVarint(list, v<<shift)
		}
		var size counter
		w := format.NewWriter(&size, format.Options{})
		w.Add(KindSignatures, 0, list)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if int(size) < n/valuesPerByte {
			t.Errorf("%d multiples of 2^%d in %d bytes, want at least %d", n, shift, size, n/valuesPerByte)
		}
	}
}
