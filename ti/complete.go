package ti

import (
	"fmt"
	"maps"
	"slices"
)

// Stats counts what a [Reader] has read.
type Stats struct {
	Calls    uint64 // lines, of all kinds
	Bytes    uint64 // of text, after decompression
	Comments uint64 // lines without a rank that are empty or begin with #
	Foreign  uint64 // all other lines kept as they are: no rank, an unknown action, or other spelling
	Ranks    int    // ranks that have lines of their own
}

// Stats returns the counts of what was read so far.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Ranks = len(r.ranks)
	return s
}

// A history is what is known about the lines of one rank.
type history struct {
	begun     bool // there was an action other than location
	init      bool // the first of these was init
	last      role // of the last line
	firstFile int  // index of the file of the first line
	firstLine int64
	lastFile  int
	lastLine  int64
	againFile int   // index of the file of the second init
	againLine int64 // zero if there is none
}

// history returns the history of rank.
func (r *Reader) history(rank int) *history {
	h := r.ranks[rank]
	if h == nil {
		h = &history{firstFile: r.next - 1, firstLine: r.line}
		r.ranks[rank] = h
	}
	return h
}

// add adds a line to the history.
func (h *history) add(what role, file int, line int64) {
	if !h.begun && what != roleLocation {
		h.begun, h.init = true, what == roleInit
	} else if what == roleInit && h.init && h.againLine == 0 {
		h.againFile, h.againLine = file, line
	}
	h.last, h.lastFile, h.lastLine = what, file, line
}

// An Incomplete tells what is missing of a rank, or of consecutive ranks of which
// there is nothing.
type Incomplete struct {
	Rank  int
	Ranks int // number of ranks, from Rank on

	// The line before which init, or else after which finalize is missing. File is
	// empty, and Line is zero, if there are no lines; File is the rank's own file
	// if that was listed.
	File string
	Line int64

	Init     bool // init is missing
	Finalize bool // finalize is missing
}

func (i Incomplete) String() string {
	ranks := fmt.Sprintf("rank %d", i.Rank)
	if i.Ranks > 1 {
		ranks = fmt.Sprintf("ranks %d to %d", i.Rank, i.Rank+i.Ranks-1)
	}
	place := ""
	if i.File != "" {
		place = i.File + ": "
	}
	switch {
	case i.Line == 0:
		return fmt.Sprintf("%s%s: no lines", place, ranks)
	case i.Init && i.Finalize:
		return fmt.Sprintf("%s%s: no init before line %d, and no finalize at the end", place, ranks, i.Line)
	case i.Init:
		return fmt.Sprintf("%s%s: no init before line %d", place, ranks, i.Line)
	}
	return fmt.Sprintf("%s%s: no finalize after line %d", place, ranks, i.Line)
}

// Incomplete returns, in the order of ranks, what is missing of the lines read so
// far: of ranks whose first line is not init, disregarding locations, or whose
// last line is not finalize, and of ranks that have no lines: those below the
// greatest that occurs, and those below [Reader.Ranks]. After [io.EOF], a complete trace
// has none of these. It takes time in proportion to the number of ranks that
// occur.
func (r *Reader) Incomplete() []Incomplete {
	var list []Incomplete
	next := 0
	for _, rank := range slices.Sorted(maps.Keys(r.ranks)) {
		list = r.appendAbsent(list, next, rank)
		next = rank + 1
		h := r.ranks[rank]
		i := Incomplete{Rank: rank, Ranks: 1, Init: !h.init, Finalize: h.last != roleFinalize}
		switch {
		case i.Init:
			i.File, i.Line = r.fileName(h.firstFile), h.firstLine
		case i.Finalize:
			i.File, i.Line = r.fileName(h.lastFile), h.lastLine
		default:
			continue
		}
		list = append(list, i)
	}
	return r.appendAbsent(list, next, r.Ranks())
}

// A Restart tells that a rank has more than one init, as it has if its lines are
// there twice.
type Restart struct {
	Rank int
	File string // of the second init
	Line int64
}

func (r Restart) String() string {
	return fmt.Sprintf("%s: rank %d: init again at line %d", r.File, r.Rank, r.Line)
}

// Restarts returns, in the order of ranks, the ranks whose first line is init,
// disregarding locations, and that have another one among the lines read so far.
// It takes time in proportion to the number of ranks that occur.
func (r *Reader) Restarts() []Restart {
	var list []Restart
	for _, rank := range slices.Sorted(maps.Keys(r.ranks)) {
		if h := r.ranks[rank]; h.againLine > 0 {
			list = append(list, Restart{Rank: rank, File: r.fileName(h.againFile), Line: h.againLine})
		}
	}
	return list
}

// appendAbsent appends that the ranks from first to before end have no lines.
func (r *Reader) appendAbsent(list []Incomplete, first, end int) []Incomplete {
	if r.listed {
		for ; first < min(end, len(r.files)); first++ {
			list = append(list, Incomplete{Rank: first, Ranks: 1, File: r.fileName(first), Init: true, Finalize: true})
		}
	}
	if first < end {
		list = append(list, Incomplete{Rank: first, Ranks: end - first, Init: true, Finalize: true})
	}
	return list
}
