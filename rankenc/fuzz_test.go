package rankenc

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// FuzzParseSet checks that whatever ParseSet accepts is the one encoding of what
// it returns, and that its methods agree.
func FuzzParseSet(f *testing.F) {
	for _, tt := range setTests {
		f.Add(marshal(SetOf(tt.ranks...)))
	}
	f.Add(marshal(SetOf(random(2000, 0.5)...)))
	f.Add([]byte("\x02\x01\x00\x00\xfd\xff\xff\xff\x03"))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		s, err := parseSet(data)
		if err != nil {
			return
		}
		if enc := marshal(s); !bytes.Equal(enc, data) {
			t.Fatalf("re-encoded differently\nin  %x\nout %x", data, enc)
		}
		var b SetBuilder
		n := 0
		for lo, hi := range s.Ranges() {
			if n++; n > 1<<12 {
				return
			}
			b.AddRange(lo, hi)
		}
		if again := b.Finish(); !again.Equal(s) {
			t.Fatalf("built again: %v, want %v", again, s)
		}
		for i, r := range s.All() {
			if i > 1<<12 {
				break
			}
			if k, ok := s.Index(r); k != i || !ok || s.At(i) != r {
				t.Fatalf("rank %d has number %d, %v, want %d, where At has %d", r, k, ok, i, s.At(i))
			}
		}
	})
}

// FuzzParseExpr checks that whatever parseExpr accepts is the one encoding of
// what it returns, and can be evaluated.
func FuzzParseExpr(f *testing.F) {
	for _, tt := range fitTests {
		d, values := sampleOf(tt.n, tt.in, tt.value)
		e, _ := d.fit(values, Options{Ranks: true})
		f.Add(marshal(e), int64(5), int64(tt.n))
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte, rank, size int64) {
		e, err := parseExpr(data)
		if err != nil {
			return
		}
		if enc := marshal(e); !bytes.Equal(enc, data) {
			t.Fatalf("re-encoded differently\nin  %x\nout %x", data, enc)
		}
		e.Eval(rank, size)
		if e.String() == "" {
			t.Fatal("no text")
		}
	})
}

// The property, given to the coverage-guided fuzzer.

func FuzzSet(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testSet)) }
