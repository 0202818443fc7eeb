package merge

import (
	"crypto/sha256"
	"math/bits"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
)

// How many bytes encodings take, at the most, that are kept.
const (
	maxEncoded  = 1 << 22
	maxMatrices = 1 << 25 // of matrices
)

// Encodings are those of numbers, columns and matrices that were written: a trace is written several
// times to see what makes it smallest, and most of the signatures are the same each time. What is
// written does not depend on them. They are nil if none are kept. Two plans may be tried at once.
type encodings struct {
	mu            sync.Mutex
	numbers       map[digest][]byte
	matrices      map[digest]storedMatrix
	bytes         int // of numbers
	matricesBytes int
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
)

// key returns what tells values of a domain from others.
func (e *encodings) key(what byte, domain digest, values []int64) (key digest) {
	const atOnce = 1 << 9
	h := sha256.New()
	scratch := append(append(make([]byte, 0, max(8*min(len(values), atOnce), 1+len(domain))), what), domain[:]...)
	h.Write(scratch)
	for some := range slices.Chunk(values, atOnce) {
		scratch = scratch[:0]
		for _, v := range some {
			scratch = wire.AppendUint64(scratch, uint64(v))
		}
		h.Write(scratch)
	}
	h.Sum(key[:0])
	return key
}

// room reports whether n bytes more are kept of at most so many, of which some are used, and counts them.
func room(used *int, n, most int) bool {
	const besides = 96 // bytes of a key and what is kept with it
	if n > most-besides-*used {
		return false
	}
	*used += n + besides
	return true
}

// appendNumbers is [layout.AppendNumbers].
func (e *encodings) appendNumbers(dst []byte, numbers []int64) []byte {
	if e == nil {
		return layout.AppendNumbers(dst, numbers)
	}
	key := e.key(encodedNumbers, digest{}, numbers)
	if enc, ok := e.numbersOf(key); ok {
		return append(dst, enc...)
	}
	before := len(dst)
	dst = layout.AppendNumbers(dst, numbers)
	e.keepNumbers(key, slices.Clone(dst[before:]))
	return dst
}

// numbersOf returns the encoding that has a key, and whether it is kept.
func (e *encodings) numbersOf(key digest) (enc []byte, kept bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	enc, kept = e.numbers[key]
	return enc, kept
}

// keepNumbers keeps an encoding if there is room.
func (e *encodings) keepNumbers(key digest, enc []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, kept := e.numbers[key]; !kept && room(&e.bytes, len(enc), maxEncoded) {
		e.numbers[key] = enc
	}
}

// column returns the encoding of a column over a domain that has a key.
func (e *encodings) column(d columns.Domain, domain digest, values []int64, o columns.Options) []byte {
	encode := func() []byte {
		enc, _ := columns.NewColumn(d, values, o).AppendBinary(nil)
		return enc
	}
	if e == nil || o.Plain { // to encode it is faster than to look for it
		return encode()
	}
	what := encodedColumn
	if o.Ranks {
		what = encodedRanks
	}
	key := e.key(what, domain, values)
	enc, ok := e.numbersOf(key)
	if !ok {
		enc = encode()
		e.keepNumbers(key, enc)
	}
	return enc[:len(enc):len(enc)]
}

// A storedMatrix is a matrix and its encoding.
type storedMatrix struct {
	matrix columns.Matrix
	data   []byte
	memory int // about how many bytes both take
}

// newStoredMatrix returns the matrix of rows as it follows from others.
func newStoredMatrix(d columns.Domain, rows [][]int64, others []columns.Matrix) storedMatrix {
	m := columns.NewMatrix(d, rows, others, columns.Options{})
	enc, _ := m.AppendBinary(nil)
	if _, ok := m.Reference(); ok {
		return storedMatrix{m, enc, referredMemory * len(enc)}
	}
	return storedMatrix{m, enc, len(enc) + packed(rows)}
}

// referredMemory is about how many bytes of memory a matrix takes that refers to another, for each byte of
// its encoding.
const referredMemory = 16

// packed returns how many bytes rows take with as many bits for each value as the largest one needs, which is
// about what a matrix of them takes in memory at the most.
func packed(rows [][]int64) int {
	var all uint64
	values := 0
	for _, row := range rows {
		values += len(row)
		for _, v := range row {
			all |= uint64(v ^ v>>63)
		}
	}
	return (bits.Len64(all)*values + 7) / 8
}

// matrix returns the matrix that has a key, which encode makes, and whether it is kept.
func (e *encodings) matrix(key digest, encode func() storedMatrix) (m storedMatrix, kept bool) {
	if e == nil {
		return encode(), false
	}
	e.mu.Lock()
	m, kept = e.matrices[key]
	e.mu.Unlock()
	if kept {
		return m, true
	}
	m = encode()
	e.mu.Lock()
	defer e.mu.Unlock()
	if other, ok := e.matrices[key]; ok { // another plan had it meanwhile
		return other, true
	}
	if room(&e.matricesBytes, m.memory, maxMatrices) {
		e.matrices[key], kept = m, true
	}
	return m, kept
}
