package merge

import (
	"fmt"
	"io"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
)

// Write writes a trace of a run to w. The parts must stand in ascending order
// of their ranks, one for each at most. Equal runs and parts give equal bytes.
func Write(w io.Writer, run Run, parts []Part) error {
	if err := check(run, parts); err != nil {
		return err
	}
	var functions cst.Table
	numbers := make([][]int, len(parts)) // of each part's functions, in functions
	for i, p := range parts {
		for _, f := range p.Table.Functions() {
			numbers[i] = append(numbers[i], functions.Declare(f))
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
		buf = renumber(p.Table, &functions, numbers[i]).AppendSignatures(buf[:0])
		out.Add(KindSignatures, uint64(p.Rank), buf)
		buf, _ = p.Grammar.AppendBinary(buf[:0])
		if err := out.Add(KindGrammar, uint64(p.Rank), buf); err != nil {
			return err
		}
	}
	if run.Interleaving != nil {
		buf, _ = run.Interleaving.AppendBinary(buf[:0])
		out.Add(KindInterleaving, 0, buf)
	}
	return out.Close()
}

// check returns what is wrong with the arguments of Write, or nil.
func check(run Run, parts []Part) error {
	if run.Ranks < 0 || run.Ranks > maxRanks {
		return fmt.Errorf("merge: %d ranks", run.Ranks)
	}
	for i, p := range parts {
		if p.Rank < 0 || p.Rank >= run.Ranks {
			return fmt.Errorf("merge: a part of rank %d in a run of %d", p.Rank, run.Ranks)
		}
		if i > 0 && p.Rank <= parts[i-1].Rank {
			return fmt.Errorf("merge: the part of rank %d follows that of rank %d", p.Rank, parts[i-1].Rank)
		}
		if err := checkTerminals(p); err != nil {
			return fmt.Errorf("merge: rank %d: %w", p.Rank, err)
		}
	}
	return nil
}

// checkTerminals checks that every terminal of p's grammar has a signature.
func checkTerminals(p Part) error {
	for s := range p.Grammar.Occurrences() {
		if int64(s) >= int64(p.Table.Len()) {
			return fmt.Errorf("%w: the grammar has terminal %d of %d signatures", wire.ErrCorrupt, s, p.Table.Len())
		}
	}
	return nil
}

// renumber returns t with its functions numbered as in functions.
func renumber(t, functions *cst.Table, numbers []int) *cst.Table {
	same := true
	for i, n := range numbers {
		same = same && i == n
	}
	if same {
		return t
	}
	var out cst.Table
	for _, f := range functions.Functions() {
		out.Declare(f)
	}
	for fn, args := range t.All() {
		out.InternRun(numbers[fn], 0, args...)
	}
	return &out
}

func appendRun(dst []byte, run Run, parts []Part) []byte {
	dst = wire.AppendUvarint(dst, uint64(run.Ranks))
	dst = wire.AppendString(dst, run.Source)
	silent := silentRanges(run, parts)
	dst = wire.AppendUvarint(dst, uint64(len(silent)))
	end := 0
	for _, s := range silent {
		dst = wire.AppendUvarint(dst, uint64(s.begin-end))
		dst = wire.AppendUvarint(dst, uint64(s.end-s.begin))
		end = s.end
	}
	return dst
}

// A rankRange is the ranks from begin to end−1.
type rankRange struct{ begin, end int }

// silentRanges returns the ranges of ranks without calls.
func silentRanges(run Run, parts []Part) []rankRange {
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
