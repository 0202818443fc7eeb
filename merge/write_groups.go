package merge

import (
	"context"

	"github.com/reprise-trace/reprise/internal/layout"
)

// A storedGroup is what processes are in a group, as signatures have it whose
// arguments are expressions of the rank in that group: a column with the ranks,
// and one with the sizes. It is stored if that takes fewer bytes than the columns
// do that the arguments would be without it.
type storedGroup struct {
	domain       int
	ranks, sizes []byte
	columns      map[string]bool // that it replaces
	saved        int             // the bytes of these, less those of the expressions
	number       int64           // of the column of ranks, if it is written; the sizes follow
	written      bool
}

// columnBytes is about what a column takes besides its own bytes.
const columnBytes = 2

func (g *storedGroup) smaller() bool {
	return g.saved >= len(g.ranks)+len(g.sizes)+2*columnBytes
}

// groupSignatures finds the groups of the signatures that could use them.
func (w *signatureWriter) groupSignatures(ctx context.Context, signatures []*signature) {
	stored := make(map[string]*storedGroup)
	w.groups = make(map[*signature]*storedGroup)
	for _, s := range signatures {
		if ctx.Err() != nil {
			return
		}
		if !s.grouped {
			continue
		}
		var kinds []layout.SlotKind
		for k := range s.fits {
			if !s.fits[k].isGrouped() {
				continue
			}
			e, _ := w.columns.preferred(s, k)
			if kinds == nil {
				kinds = s.layout(w.functions)
			}
			g := w.groups[s]
			if g == nil {
				g = w.group(s, stored)
				w.groups[s] = g
			}
			_, enc := w.encodeColumn(s, k, kinds[k])
			g.replaces(enc, e)
		}
	}
}

// group returns the group of a signature, which is one of those stored or a new
// one.
func (w *signatureWriter) group(s *signature, stored map[string]*storedGroup) *storedGroup {
	n := len(s.fits)
	domain, ranks := w.encodeColumn(s, n-2, layout.Number)
	_, sizes := w.encodeColumn(s, n-1, layout.Number)
	key := columnKey(domain, ranks) + columnKey(domain, sizes)
	g := stored[key]
	if g == nil {
		g = &storedGroup{domain: domain, ranks: ranks, sizes: sizes, columns: make(map[string]bool)}
		stored[key] = g
	}
	return g
}

// replaces takes note that an expression stands for a column.
func (g *storedGroup) replaces(enc []byte, e layout.Formula) {
	expr, _ := e.AppendBinary(nil)
	if g.saved -= len(expr); !g.columns[string(enc)] {
		g.columns[string(enc)] = true
		g.saved += len(enc) + columnBytes
	}
}

// groupColumn returns the number of the column with the ranks in the group of a
// signature.
func (w *signatureWriter) groupColumn(s *signature) int64 {
	g := w.groups[s]
	if !g.written {
		g.number, g.written = int64(len(w.stored)), true
		w.stored = append(w.stored, storedColumn{domain: g.domain, data: g.ranks}, storedColumn{domain: g.domain, data: g.sizes})
	}
	return g.number
}
