package merge

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/reprise-trace/reprise/internal/layout"
)

// Signatures of some shapes may have the values of a column that others have in more shapes: where ranks have
// more neighbours or fewer, the first ones are sent what they were received from, but requests differ. Such
// signatures have the column of all these shapes.

const (
	maxSharing = 64 // shapes of a column that others may have
	maxSharers = 16 // columns with the values that one of its shapes has, of which each is looked at
)

// A shapePart is what the ranks of a shape have in a slot.
type shapePart struct {
	shape  int32
	ranks  bool // they are ranks
	values digest
}

// sharedColumns are the columns that have such parts.
type sharedColumns map[shapePart][]int64

// find returns the column that has all of some parts, and whether there is one.
func (x sharedColumns) find(parts []shapePart) (n int64, ok bool) {
	if len(parts) == 0 {
		return 0, false
	}
	first := x[parts[0]]
	for _, n := range first[:min(len(first), maxSharers)] {
		if !slices.ContainsFunc(parts[1:], func(p shapePart) bool { return !slices.Contains(x[p], n) }) {
			return n, true
		}
	}
	return 0, false
}

// add adds a column.
func (x sharedColumns) add(parts []shapePart, n int64) {
	for _, p := range parts {
		x[p] = append(x[p], n)
	}
}

// parts returns what the shapes of a signature have in a slot, nothing if they are too many.
func (w *signatureWriter) parts(s *signature, slot int, kind layout.SlotKind) []shapePart {
	if len(s.uses) > maxSharing {
		return nil
	}
	parts := make([]shapePart, len(s.uses))
	var key []byte
	for i, u := range s.uses {
		key = key[:0]
		if of, at := w.columns.shapes[u.shape], w.columns.begins[u.shape][u.terminal]+slot; len(of.rows) > 0 {
			for k := range of.rows {
				key = binary.AppendVarint(key, of.rows[k].at(at))
			}
		} else {
			key = w.columns.slot(u, slot).appendKey(key)
		}
		parts[i] = shapePart{u.shape, kind == layout.Rank, sha256.Sum256(key)}
	}
	return parts
}
