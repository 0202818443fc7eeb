package bench

import (
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
)

// relative returns p as a tracer records it that writes ranks relative to the
// caller when a call is made, as Pilgrim does: all of them, the sources in
// statuses too. Different values stay different, so the grammar is the same.
func relative(p merge.Part, ranks int) merge.Part {
	table := new(cst.Table)
	for _, f := range p.Table.Functions() {
		table.Declare(f)
	}
	var displaced []cst.Value
	terminal := uint32(0)
	for fn, args := range p.Table.All() {
		displaced = displaced[:0]
		for _, v := range args {
			displaced = append(displaced, displace(v, p.Rank, ranks))
		}
		if got := table.InternRun(fn, p.Table.Count(terminal), displaced...); got != terminal {
			panic(fmt.Sprintf("bench: terminals %d and %d become one", got, terminal))
		}
		terminal++
	}
	return merge.Part{Rank: p.Rank, Table: table, Grammar: p.Grammar}
}

// displace returns v with the ranks in it relative to the caller.
func displace(v cst.Value, rank, ranks int) cst.Value {
	from := func(r int64) int64 { return rankenc.Relative(r, int64(rank), int64(ranks)) }
	switch v.Kind() {
	case cst.KindRank:
		return cst.Rank(from(v.Int()))
	case cst.KindStatus:
		s := v.Status()
		s.Source = from(s.Source)
		return cst.StatusOf(s)
	case cst.KindArray:
		list := make([]cst.Value, v.Len())
		for i := range list {
			list[i] = displace(v.Index(i), rank, ranks) // as deep as a declared type
		}
		return cst.Array(list...)
	}
	return v
}

func relativeParts(parts []merge.Part, ranks int) []merge.Part {
	list := make([]merge.Part, len(parts))
	for i, p := range parts {
		list[i] = relative(p, ranks)
	}
	return list
}

// different returns the number of different parts, as signatures and grammars.
func different(parts []merge.Part) int {
	seen := make(map[[sha256.Size]byte]bool)
	var buf []byte
	for _, p := range parts {
		buf, _ = p.Table.AppendBinary(buf[:0])
		buf, _ = p.Grammar.AppendBinary(buf)
		seen[sha256.Sum256(buf)] = true
	}
	return len(seen)
}

// Relative reports, for programs and for the traces in a directory, what a trace
// takes if ranks are written relative to the caller on line, against one for
// which the merge chooses a form, and how many ranks are not like another one. It
// reports the programs even if there are no traces.
func Relative(w io.Writer, dir string) error {
	fmt.Fprintf(w, "| program or trace | ranks | chosen when merging, file B | relative on line, file B | shapes | different as they are | different if relative |\n")
	fmt.Fprintf(w, "|---|---|---|---|---|---|---|\n")
	for _, ranks := range []int{64, 1024} {
		for _, p := range programs.All(ranks) {
			if ranks > 64 && p.Entropy > 1e4 {
				continue // more random numbers tell nothing more
			}
			if err := compareRelative(w, p.Name, p.Run(), p.Parts()); err != nil {
				return err
			}
		}
	}
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	for _, t := range traces {
		run, parts, err := t.record()
		if err == nil {
			err = compareRelative(w, t.name, run, parts)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// compareRelative writes a row of Relative.
func compareRelative(w io.Writer, name string, run merge.Run, parts []merge.Part) error {
	displaced := relativeParts(parts, run.Ranks)
	chosen, err := foldParts(run, parts)
	if err != nil {
		return err
	}
	online, err := foldParts(run, displaced)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d |\n", name, run.Ranks, chosen.size, online.size, chosen.shapes,
		different(parts), different(displaced))
	return err
}
