package merge

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// Write writes a trace of a run to w. The parts must stand in ascending order
// of their ranks, one for each at most, and an interleaving must have every
// rank as often as the rank has calls. If they do not, Write writes nothing.
// Equal runs and parts give equal bytes.
func Write(w io.Writer, run Run, parts []Part) error {
	if err := check(run, parts); err != nil {
		return err
	}
	var functions cst.Table
	inPlace := make([]bool, len(parts)) // the part's functions have the same numbers in functions
	for i, p := range parts {
		inPlace[i] = true
		for number, f := range p.Table.Functions() {
			inPlace[i] = functions.Declare(f) == number && inPlace[i]
		}
	}
	out := format.NewWriter(w, format.Options{})
	out.Add(KindRun, 0, appendRun(nil, run, parts))
	out.Add(KindFunctions, 0, functions.AppendFunctions(nil))
	var buf []byte
	for i, p := range parts {
		if p.Grammar.Len() == 0 {
			continue
		}
		table := p.Table
		if !inPlace[i] {
			table, _, _ = cst.Merge(&functions, table)
		}
		buf = table.AppendSignatures(buf[:0])
		out.Add(KindSignatures, uint64(p.Rank), buf)
		buf, _ = p.Grammar.AppendBinary(buf[:0])
		if err := out.Add(KindGrammar, uint64(p.Rank), buf); err != nil {
			return err
		}
	}
	if run.Interleaving != nil && !isRankByRank(run.Interleaving) {
		buf, _ = run.Interleaving.AppendBinary(buf[:0])
		out.Add(KindInterleaving, 0, buf)
	}
	return out.Close() // errors of Add stick
}

// check returns what is wrong with the arguments of Write, or nil.
func check(run Run, parts []Part) error {
	if run.Ranks < 0 || run.Ranks > maxRanks {
		return fmt.Errorf("merge: a run of %d ranks", run.Ranks)
	}
	for i, p := range parts {
		if p.Rank < 0 || p.Rank >= run.Ranks {
			return fmt.Errorf("merge: a part of rank %d in a run of %d", p.Rank, run.Ranks)
		}
		if i > 0 && p.Rank <= parts[i-1].Rank {
			return fmt.Errorf("merge: a part of rank %d follows one of rank %d", p.Rank, parts[i-1].Rank)
		}
		if err := p.check(); err != nil {
			return fmt.Errorf("merge: rank %d: %w", p.Rank, err)
		}
	}
	if run.Interleaving == nil {
		return nil
	}
	return checkInterleaving(run.Interleaving, parts)
}

func (p Part) check() error {
	if p.Table == nil || p.Grammar == nil {
		return errors.New("the part has no table or no grammar")
	}
	if n := terminals(p.Grammar); n > uint64(p.Table.Len()) {
		return fmt.Errorf("the grammar has terminal %d of %d signatures", n-1, p.Table.Len())
	}
	return nil
}

// checkInterleaving checks that g has the rank of every part as often as that
// has calls, and no other rank.
func checkInterleaving(g *sequitur.Grammar, parts []Part) error {
	calls := maps.Collect(g.Occurrences())
	for _, p := range parts {
		if n := calls[sequitur.Symbol(p.Rank)]; n != p.Grammar.Len() {
			return fmt.Errorf("merge: rank %d has %d calls, %d in the interleaving", p.Rank, p.Grammar.Len(), n)
		}
		delete(calls, sequitur.Symbol(p.Rank))
	}
	if len(calls) > 0 {
		return fmt.Errorf("merge: the interleaving has rank %d, which has no part", slices.Min(slices.Collect(maps.Keys(calls))))
	}
	return nil
}

func appendRun(dst []byte, run Run, parts []Part) []byte {
	dst = wire.AppendUvarint(dst, uint64(run.Ranks))
	dst = wire.AppendString(dst, run.Source)
	silent := silentRanks(run, parts)
	dst = wire.AppendUvarint(dst, uint64(len(silent)))
	end := 0
	for _, s := range silent {
		dst = wire.AppendUvarint(dst, uint64(s.begin-end))
		dst = wire.AppendUvarint(dst, uint64(s.end-s.begin))
		end = s.end
	}
	return dst
}

// silentRanks returns the ranges of ranks without calls.
func silentRanks(run Run, parts []Part) []rankRange {
	var silent []rankRange
	next := 0 // the first rank not yet accounted for
	for _, p := range parts {
		if p.Grammar.Len() == 0 {
			continue
		}
		if p.Rank > next {
			silent = append(silent, rankRange{next, p.Rank})
		}
		next = p.Rank + 1
	}
	if next < run.Ranks {
		silent = append(silent, rankRange{next, run.Ranks})
	}
	return silent
}
