package merge

import (
	"errors"
	"slices"

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
	return c.(rankenc.Column).At(at), nil
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
	m := c.(rankenc.Matrix)
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

// column reads a column or a matrix.
func (t *Trace) column(n int) (any, error) {
	t.mu.Lock()
	c, ok := t.columns[n]
	t.mu.Unlock()
	if ok {
		return c, nil
	}
	p := t.signatures.columns[n]
	data, err := t.columnBytes(n)
	if err != nil {
		return nil, err
	}
	domain := t.signatures.domains[p.domain].columns()
	if p.matrix {
		var others []rankenc.Matrix
		if others, err = t.matrices(p.others); err == nil {
			c, err = rankenc.ParseMatrix(data, domain, others, rankenc.ParseOptions{})
		}
	} else {
		c, err = rankenc.ParseColumn(data, domain)
	}
	if err != nil {
		return nil, t.columnError(n, err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.columns[n] = c
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

// columnBytes returns the encoding of a column.
func (t *Trace) columnBytes(n int) ([]byte, error) {
	p := t.signatures.columns[n]
	if t.signatures.inline != nil {
		return t.signatures.inline[p.offset : p.offset+p.size], nil
	}
	var data []byte
	err := t.read(KindColumns, uint64(p.section), func(content []byte) error {
		if p.offset+p.size > len(content) {
			return corrupt("column %d is at %d to %d of %d bytes", n, p.offset, p.offset+p.size, len(content))
		}
		data = content[p.offset : p.offset+p.size]
		return nil
	})
	return slices.Clone(data), err
}

// matrices reads some matrices.
func (t *Trace) matrices(numbers []int) ([]rankenc.Matrix, error) {
	var matrices []rankenc.Matrix
	for _, n := range numbers {
		c, err := t.column(n)
		if err != nil {
			return nil, err
		}
		matrices = append(matrices, c.(rankenc.Matrix))
	}
	return matrices, nil
}
