package columns

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/rankenc"
)

// FuzzParseColumn checks that whatever ParseColumn accepts can be read and is
// encoded as it was, over small and large domains.
func FuzzParseColumn(f *testing.F) {
	for _, tt := range columnTests {
		d, values := sampleOf(tt.n, tt.in, tt.value)
		f.Add(marshal(NewColumn(d, values, Options{Ranks: true})), uint32(tt.n))
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte, n uint32) {
		d := Over(rankenc.World(int(n)), int(n))
		if c, err := ParseColumn(data, d); err == nil {
			readColumn(t, c, data)
		}
	})
}

// FuzzParseMatrix checks that whatever ParseMatrix accepts can be read and is
// encoded as it was, or in the form of newer files.
func FuzzParseMatrix(f *testing.F) {
	d := Over(rankenc.World(16), 16)
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

func FuzzColumn(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testColumn)) }
func FuzzMatrix(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testMatrix)) }
