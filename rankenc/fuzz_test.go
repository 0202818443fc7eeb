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
		s, err := ParseSet(data)
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
		e, _ := Fit(d, values, Options{Ranks: true})
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

// FuzzParseColumn checks that whatever ParseColumn accepts can be read and is
// encoded as it was, over small and large domains.
func FuzzParseColumn(f *testing.F) {
	for _, tt := range columnTests {
		d, values := sampleOf(tt.n, tt.in, tt.value)
		f.Add(marshal(NewColumn(d, values, Options{Ranks: true})), uint32(tt.n))
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte, n uint32) {
		d := Over(World(int(n)), int(n))
		if c, err := ParseColumn(data, d); err == nil {
			readColumn(t, c, data)
		}
	})
}

// FuzzParseMatrix checks that whatever ParseMatrix accepts can be read and is
// encoded as it was, or in the form of newer files.
func FuzzParseMatrix(f *testing.F) {
	d := Over(World(16), 16)
	others := []Matrix{
		NewMatrix(d, table(16, 16, func(i, j int) int64 { return int64(i * j % 7) }), nil, Options{}),
		NewMatrix(d, table(16, 3, func(i, j int) int64 { return int64(i + j) }), nil, Options{}),
	}
	for _, rows := range matrixSeeds() {
		f.Add(marshal(NewMatrix(d, rows, nil, Options{})))
	}
	f.Add([]byte("\x0a\x01"))
	f.Add([]byte("\x0b\x01\x50\x02"))
	f.Add([]byte("\x00\x01"))
	f.Add([]byte("\x07\x01\x02\x05\x02\x09\x01"))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		if m, err := ParseMatrix(data, d, others); err == nil {
			readMatrix(t, m, data)
		}
	})
}

// The properties, given to the coverage-guided fuzzer.

func FuzzSet(f *testing.F)    { mutate.Fuzz(f, rapid.MakeFuzz(testSet)) }
func FuzzColumn(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testColumn)) }
func FuzzMatrix(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testMatrix)) }
