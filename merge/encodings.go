package merge

import (
	"crypto/sha256"
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// maxEncoded is how many bytes encodings take, at the most, that are kept.
const maxEncoded = 1 << 22

// Encodings are those of numbers, columns and matrices that were written: a trace is written several
// times to see what makes it smallest, and most of the signatures are the same each time. What is
// written does not depend on them. They are nil if none are kept.
type encodings struct {
	numbers  map[digest][]byte
	matrices map[digest]storedMatrix
	bytes    int
	scratch  []byte
}

func newEncodings() *encodings {
	return &encodings{numbers: make(map[digest][]byte), matrices: make(map[digest]storedMatrix)}
}

// keep makes encodings be kept until the function that it returns is called, by whoever did first.
func (a *Accumulator) keepEncodings() (forget func()) {
	if a.encodings != nil {
		return func() {}
	}
	a.encodings = newEncodings()
	return func() { a.encodings = nil }
}

// What encodings are of.
const (
	encodedNumbers byte = iota
	encodedColumn
	encodedRanks // a column of ranks
	encodedMatrix
)

// key returns what tells values of a domain from others.
func (e *encodings) key(what byte, domain digest, values []int64) (key digest) {
	const atOnce = 1 << 9
	h := sha256.New()
	h.Write(append(append(e.scratch[:0], what), domain[:]...))
	for some := range slices.Chunk(values, atOnce) {
		e.scratch = e.scratch[:0]
		for _, v := range some {
			e.scratch = wire.AppendUint64(e.scratch, uint64(v))
		}
		h.Write(e.scratch)
	}
	h.Sum(key[:0])
	return key
}

// room reports whether an encoding of n bytes is kept, too.
func (e *encodings) room(n int) bool {
	const besides = 96 // bytes of a key and what is kept with it
	if e.bytes+n+besides > maxEncoded {
		return false
	}
	e.bytes += n + besides
	return true
}

// appendNumbers is [layout.AppendNumbers].
func (e *encodings) appendNumbers(dst []byte, numbers []int64) []byte {
	if e == nil {
		return layout.AppendNumbers(dst, numbers)
	}
	key := e.key(encodedNumbers, digest{}, numbers)
	if enc, ok := e.numbers[key]; ok {
		return append(dst, enc...)
	}
	before := len(dst)
	dst = layout.AppendNumbers(dst, numbers)
	if e.room(len(dst) - before) {
		e.numbers[key] = slices.Clone(dst[before:])
	}
	return dst
}

// column returns the encoding of a column over a domain that has a key.
func (e *encodings) column(d rankenc.Domain, domain digest, values []int64, o rankenc.Options) []byte {
	encode := func() []byte {
		enc, _ := rankenc.NewColumn(d, values, o).AppendBinary(nil)
		return enc
	}
	if e == nil {
		return encode()
	}
	what := encodedColumn
	if o.Ranks {
		what = encodedRanks
	}
	key := e.key(what, domain, values)
	enc, ok := e.numbers[key]
	if !ok {
		if enc = encode(); e.room(len(enc)) {
			e.numbers[key] = enc
		}
	}
	return enc[:len(enc):len(enc)]
}

// A storedMatrix is a matrix and its encoding.
type storedMatrix struct {
	matrix rankenc.Matrix
	data   []byte
}

// newStoredMatrix returns the matrix of rows as it follows from others.
func newStoredMatrix(d rankenc.Domain, rows [][]int64, others []rankenc.Matrix) storedMatrix {
	m := rankenc.NewMatrix(d, rows, others, rankenc.Options{})
	enc, _ := m.AppendBinary(nil)
	return storedMatrix{m, enc}
}

// matrix returns the matrix of rows, whose values are all, as it follows from others, and a key of it and
// of these. Before is the key of the last one of them.
func (e *encodings) matrix(d rankenc.Domain, domain, before digest, all []int64, rows [][]int64, others []rankenc.Matrix) (storedMatrix, digest) {
	if e == nil {
		return newStoredMatrix(d, rows, others), digest{}
	}
	key := e.key(encodedMatrix, domain, all)
	key = sha256.Sum256(append(key[:], before[:]...))
	m, ok := e.matrices[key]
	if !ok {
		if m = newStoredMatrix(d, rows, others); e.room(len(m.data) + 8*len(all)) {
			e.matrices[key] = m
		}
	}
	return m, key
}
