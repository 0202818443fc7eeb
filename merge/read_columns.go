package merge

import (
	"errors"
	"sync"

	"github.com/reprise-trace/reprise/rankenc"
)

// columnValue returns the value of a stored column for a rank.
func (t *Trace) columnValue(n, shape, position, rank int) (int64, error) {
	at, err := t.place(n, shape, position, rank)
	if err != nil {
		return 0, err
	}
	c, err := t.column(n)
	if err != nil {
		return 0, err
	}
	return c.column.At(at), nil
}

// row appends the row of a stored matrix for a rank, which must be of a length.
func (t *Trace) row(dst []int64, n, shape, position, rank, length int) ([]int64, error) {
	at, err := t.place(n, shape, position, rank)
	if err != nil {
		return nil, err
	}
	c, err := t.column(n)
	if err != nil {
		return nil, err
	}
	m := c.matrix
	if k := m.RowLen(at); k != length {
		return nil, t.columnError(n, corrupt("column %d has a row of %d, not %d", n, k, length))
	}
	return m.AppendRow(dst, at), nil
}

// place returns the position of a rank in the domain of a column.
func (t *Trace) place(n, shape, position, rank int) (int, error) {
	d := t.signatures.columns[n].domain
	k, ok := t.signatures.shapes[d].Index(shape)
	if !ok {
		return 0, &SectionError{KindSignatures, 0, -1, corrupt("shape %d is none of those of column %d", shape, n)}
	}
	return t.signatures.domains[d].position(k, position, rank), nil
}

// A columnCache holds columns and matrices that were read.
type columnCache struct {
	mu      sync.Mutex
	columns map[int]rankColumn
	size    int // of the encodings of these, in bytes, and columnOverhead for each
	most    int // largest size
}

// maxColumns is how many bytes of encoded columns a Trace keeps decoded, where each
// counts as some more.
const (
	maxColumns     = 32 << 20
	columnOverhead = 500
)

// A rankColumn is a column or a matrix.
type rankColumn struct {
	column rankenc.Column
	matrix rankenc.Matrix
	size   int // of the encoding, and columnOverhead
}

func (x *columnCache) get(n int) (rankColumn, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c, ok := x.columns[n]
	return c, ok
}

// put keeps column n in place of as many others as have to go. Which ones is left
// to chance: where ranks are read one after the other and the columns of a rank
// are too many, whichever was kept longest or used last is as likely to be needed.
func (x *columnCache) put(n int, c rankColumn) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, ok := x.columns[n]; ok {
		return // another goroutine read it, too
	}
	x.size += c.size
	for k, other := range x.columns {
		if x.size <= x.most {
			break
		}
		delete(x.columns, k)
		x.size -= other.size
	}
	x.columns[n] = c
}

// column reads a column or a matrix.
func (t *Trace) column(n int) (rankColumn, error) {
	if c, ok := t.columns.get(n); ok {
		return c, nil
	}
	p := t.signatures.columns[n]
	data, err := t.columnBytes(n)
	if err != nil {
		return rankColumn{}, err
	}
	c := rankColumn{size: p.size + columnOverhead}
	domain := t.signatures.domains[p.domain].columns()
	if p.matrix {
		var others []rankenc.Matrix
		if others, err = t.matrices(p.others); err == nil {
			c.matrix, err = rankenc.ParseMatrix(data, domain, others, rankenc.ParseOptions{})
		}
	} else {
		c.column, err = rankenc.ParseColumn(data, domain)
	}
	if err != nil {
		return rankColumn{}, t.columnError(n, err)
	}
	t.columns.put(n, c)
	return c, nil
}

// columnError returns a SectionError about a column.
func (t *Trace) columnError(n int, err error) error {
	var s *SectionError
	if errors.As(err, &s) {
		return err
	}
	if t.signatures.inline != nil {
		return &SectionError{KindSignatures, 0, -1, err}
	}
	return &SectionError{KindColumns, uint64(t.signatures.columns[n].section), -1, err}
}

// columnBytes returns the encoding of a column, which must not be kept.
func (t *Trace) columnBytes(n int) ([]byte, error) {
	p := t.signatures.columns[n]
	if t.signatures.inline != nil {
		return t.signatures.inline[p.offset : p.offset+p.size], nil
	}
	var data []byte
	err := t.readShared(KindColumns, uint64(p.section), func(content []byte) (err error) {
		data, err = itemOf(content, p.offset, p.size)
		return err
	})
	return data, err
}

// matrices reads some matrices.
func (t *Trace) matrices(numbers []int) ([]rankenc.Matrix, error) {
	var matrices []rankenc.Matrix
	for _, n := range numbers {
		c, err := t.column(n)
		if err != nil {
			return nil, err
		}
		matrices = append(matrices, c.matrix)
	}
	return matrices, nil
}
