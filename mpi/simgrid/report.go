package simgrid

import (
	"fmt"
	"maps"
	"slices"
	"strings"
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

// A Report says what may be wrong with a trace, as far as it was read. Its texts name the
// places.
type Report struct {
	// Foreign is the first line that [Stats].Foreign counts, or its beginning. It is
	// empty if there is none.
	Foreign string

	// Incomplete lists, in the order of ranks, what is missing: of ranks whose first
	// line is not init, disregarding locations, or whose last line is not finalize, and
	// of listed files without lines. After [io.EOF], a complete trace has none of these.
	Incomplete []string

	// Restarts lists the ranks whose first line is init, disregarding locations, and
	// that have another one, as they have if their lines are there twice.
	Restarts []string

	// Ignored lists the paths of what is in the directories that were given to [Open],
	// but is no file of a rank, and no list of such files. Those of directories, which
	// are not searched, end in a separator. Hidden files are not among them.
	Ignored []string
}

// Report returns what may be wrong with the lines read so far. Whole says that they are to
// be of the whole run. Then ranks are incomplete, too, that nothing is known of: those below
// the greatest that occurs, and those below [Reader.Ranks]. It takes time in proportion to
// the number of ranks that occur.
func (r *Reader) Report(whole bool) Report {
	o := Report{Foreign: r.foreign, Ignored: slices.Clone(r.ignored)}
	next := 0
	for _, rank := range slices.Sorted(maps.Keys(r.ranks)) {
		o.absent(r, next, rank, whole)
		next = rank + 1
		h := r.ranks[rank]
		at := func(file int, line int64, format string) string {
			return fmt.Sprintf("%s: rank %d: "+format, r.fileName(file), rank, line)
		}
		switch {
		case !h.init && h.last != roleFinalize:
			o.Incomplete = append(o.Incomplete, at(h.firstFile, h.firstLine,
				"no init before line %d, and no finalize at the end"))
		case !h.init:
			o.Incomplete = append(o.Incomplete, at(h.firstFile, h.firstLine, "no init before line %d"))
		case h.last != roleFinalize:
			o.Incomplete = append(o.Incomplete, at(h.lastFile, h.lastLine, "no finalize after line %d"))
		}
		if h.againLine > 0 {
			o.Restarts = append(o.Restarts, at(h.againFile, h.againLine, "init again at line %d"))
		}
	}
	o.absent(r, next, r.Ranks(), whole)
	return o
}

// absent says that the ranks from first to before end have no lines.
func (o *Report) absent(r *Reader, first, end int, whole bool) {
	if r.listed {
		for ; first < min(end, len(r.files)); first++ {
			o.Incomplete = append(o.Incomplete, fmt.Sprintf("%s: rank %d: no lines", r.fileName(first), first))
		}
	}
	switch {
	case !whole || first >= end:
	case first == end-1:
		o.Incomplete = append(o.Incomplete, fmt.Sprintf("rank %d: no lines", first))
	default:
		o.Incomplete = append(o.Incomplete, fmt.Sprintf("ranks %d to %d: no lines", first, end-1))
	}
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

// maxForeignText is the most bytes that a Report has of a line.
const maxForeignText = 80

// countForeign counts a line, whose text is valid, as foreign.
func (r *Reader) countForeign(line []byte) {
	if r.stats.Foreign++; r.stats.Foreign > 1 {
		return
	}
	text, complete := strings.CutSuffix(string(line), "\n")
	end := ""
	switch {
	case len(line) > maxForeignText:
		text, end = strings.ToValidUTF8(text[:maxForeignText], ""), "…" // a character may be cut through
	case !complete:
		end = ", without a line feed"
	}
	r.foreign = fmt.Sprintf("%s:%d: %q%s", r.fileName(r.next-1), r.line, text, end)
}

// A role is what an action says about the completeness of a rank.
type role uint8

const (
	roleNone     role = iota // not an action
	roleInit                 // the first action of a rank
	roleFinalize             // the last action of a rank
	roleLocation             // where the next action was called
	roleOther
)

// roleOf returns the role of the action that a line keeps after its rank.
func roleOf(s string) role {
	word := strings.Trim(s, " \t\r\n")
	if i := strings.IndexAny(word, " \t"); i >= 0 {
		word = word[:i]
	}
	switch word {
	case "init":
		return roleInit
	case "finalize":
		return roleFinalize
	case "location":
		return roleLocation
	}
	return roleOther
}
