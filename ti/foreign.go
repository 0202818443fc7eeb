package ti

import (
	"fmt"
	"strings"
)

// A Foreign tells of the first line that [Stats].Foreign counts.
type Foreign struct {
	File string
	Line int64
	Text string // with its line feed, if it has one, or the beginning of it
	Cut  bool   // it is the beginning
}

// maxForeignText is the most bytes that a Foreign keeps of a line.
const maxForeignText = 80

func (f Foreign) String() string {
	text, complete := strings.CutSuffix(f.Text, "\n")
	end := ""
	switch {
	case f.Cut:
		end = "…"
	case !complete:
		end = ", without a line feed"
	}
	return fmt.Sprintf("%s:%d: %q%s", f.File, f.Line, text, end)
}

// FirstForeign returns the first line that was counted as foreign so far, and
// whether there is one.
func (r *Reader) FirstForeign() (f Foreign, ok bool) { return r.foreign, r.stats.Foreign > 0 }

// countForeign counts a line, whose text is valid, as foreign.
func (r *Reader) countForeign(line []byte) {
	if r.stats.Foreign++; r.stats.Foreign > 1 {
		return
	}
	text := strings.ToValidUTF8(string(line[:min(len(line), maxForeignText)]), "") // a character may be cut through
	r.foreign = Foreign{File: r.fileName(r.next - 1), Line: r.line, Text: text, Cut: len(line) > maxForeignText}
}
