package merge

import (
	"crypto/sha256"
	"io"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
)

// matrix returns the number of the matrix of n slots from one on.
func (w *signatureWriter) matrix(s *signature, slot, n int) int64 {
	d := w.domain(s)
	others := w.matricesOf(d)
	var key digest
	if w.encodings != nil {
		key = w.matrixKey(s, slot, n, d, len(others) > 0)
	}
	m, kept := w.encodings.matrix(key, func() storedMatrix {
		matrices := make([]columns.Matrix, len(others))
		for i, k := range others {
			matrices[i] = w.stored[k].rows
		}
		m := newStoredMatrix(w.domains[d].Columns(), w.rows(s, slot, n, w.domains[d]), matrices)
		if other, ok := m.matrix.Reference(); ok && !w.stored[others[other]].kept {
			m.memory = math.MaxInt // it would hold the other, too
		}
		return m
	})
	number := len(w.stored)
	w.matrices[d], w.matrixKeys[d] = append(w.matrices[d], number), key
	w.stored = append(w.stored, storedColumn{domain: d, matrix: true, data: m.data, rows: m.matrix, kept: kept})
	if other, ok := m.matrix.Reference(); ok {
		w.stored[number].referred, w.stored[others[other]].referred = true, true
	}
	w.arrays[s] = append(w.arrays[s], number)
	return int64(number)
}

// minOfSums is the min size of a column, in bytes, that is compared with sums of rows.
const minOfSums = 16

// rowSums returns the encoding of values as the sums of the rows of an array of s, or nil if they are not.
func (w *signatureWriter) rowSums(s *signature, domain int, values []int64) []byte {
	for _, n := range w.arrays[s] {
		m := &w.stored[n]
		if m.domain != domain || m.long() && !m.referred {
			continue // to read one rank of what is in slices, one of these is read
		}
		if columns.AreRowSums(values, m.rows) {
			return columns.AppendRowSums(nil, n)
		}
	}
	return nil
}

// matricesOf returns the numbers of the matrices to which the next one of a domain
// may refer: those since the last whose place in the domain is a multiple of
// matricesTogether.
func (w *signatureWriter) matricesOf(domain int) []int {
	all := w.matrices[domain]
	return all[len(all)/layout.MatricesTogether*layout.MatricesTogether:]
}

// matrixKey returns what tells the matrix of n slots from one on from others, and from the same one as it
// follows from other matrices: values of a column are told by its runs.
func (w *signatureWriter) matrixKey(s *signature, slot, n, domain int, follows bool) (key digest) {
	h := sha256.New()
	var before digest
	if follows {
		before = w.matrixKeys[domain]
	}
	h.Write(w.domainKeys[domain][:])
	h.Write(before[:])
	var scratch []byte
	for _, u := range s.uses {
		ranks := w.columns.shapes[u.shape].ranks
		scratch = wire.AppendUvarint(wire.AppendUvarint(scratch[:0], uint64(n)), uint64(len(ranks)))
		for _, p := range ranks {
			scratch = wire.AppendUvarint(wire.AppendUvarint(scratch, uint64(p.first)), uint64(p.last))
		}
		s, begin := w.columns.shapes[u.shape], w.columns.begins[u.shape][u.terminal]+slot
		if len(s.rows) > 0 {
			h.Write(append(scratch, 1))
			w.writeRows(h, s.rows, begin, begin+n)
			continue
		}
		h.Write(append(scratch, 0))
		for k := range n {
			scratch = w.columns.slot(u, slot+k).appendKey(scratch[:0])
			h.Write(scratch)
		}
	}
	h.Sum(key[:0])
	return key
}

// writeRows writes what tells the values of rows in some slots from others.
func (w *signatureWriter) writeRows(to io.Writer, rows []packedRow, begin, end int) {
	var scratch []byte
	for i := range rows {
		w.elements = rows[i].append(w.elements[:0], begin, end)
		before := int64(0)
		for _, v := range w.elements {
			scratch = wire.AppendVarint(scratch, v-before)
			before = v
		}
		to.Write(scratch)
		scratch = scratch[:0]
	}
}

// rows returns the rows of n slots from one on over their domain, until it is called again.
func (w *signatureWriter) rows(s *signature, slot, n int, d *layout.Domain) [][]int64 {
	rows := make([][]int64, d.Len())
	w.elements = slices.Grow(w.elements[:0], n*len(rows))
	all := w.elements[:n*len(rows)]
	for i := range rows {
		rows[i] = all[i*n : (i+1)*n : (i+1)*n]
	}
	if w.appendRows(s, slot, n, d, rows) {
		return rows
	}
	// columns are read before they are written to the rows, as many values as a line of the cache has
	const together = 8
	var columns [together][]int64
	for k := 0; k < n; k += together {
		some := columns[:min(together, n-k)]
		for j := range some {
			some[j] = w.appendValues(some[j][:0], s, slot+k+j, d)
		}
		for i, row := range rows {
			for j, values := range some {
				row[k+j] = values[i]
			}
		}
	}
	return rows
}

// appendRows fills in rows if all shapes have rows, or one rank.
func (w *signatureWriter) appendRows(s *signature, slot, n int, d *layout.Domain, rows [][]int64) bool {
	if slices.ContainsFunc(s.uses, func(u use) bool { return len(w.columns.shapes[u.shape].columns) > 0 }) {
		return false
	}
	for k, u := range s.uses {
		of, begin := w.columns.shapes[u.shape], w.columns.begins[u.shape][u.terminal]+slot
		of.ranks.each(func(position, rank int) {
			row := rows[d.Position(k, position, rank)]
			if len(of.values) > 0 {
				copy(row, of.values[begin:begin+n])
			} else {
				of.rows[position].append(row[:0], begin, begin+n)
			}
		})
	}
	return true
}
