package show

import (
	"bytes"

	"github.com/reprise-trace/reprise/trace"
)

// callLines are the texts of calls. Calls of a rank with one terminal are equal, unless they say that they are
// not, so that each text is made once; or twice, as what comes once is not kept.
type callLines struct {
	format func(dst []byte, c trace.Call) ([]byte, error)

	ranks map[int][][]byte // texts by terminal, not nil but empty where a call came once
	rank  int
	lines [][]byte // of rank
	kept  int      // bytes
	last  []byte
}

const (
	maxLines    = 16 << 20 // bytes that are kept
	maxTerminal = 1 << 16  // that texts are kept of
)

func newCallLines(format func(dst []byte, c trace.Call) ([]byte, error)) *callLines {
	return &callLines{format: format, ranks: make(map[int][][]byte), rank: -1}
}

var once = []byte{}

// of returns the text of a call, until the next.
func (l *callLines) of(c trace.Call) ([]byte, error) {
	if c.Rank != l.rank {
		l.rank, l.lines = c.Rank, l.ranks[c.Rank]
	}
	at := int(c.Terminal)
	if at < len(l.lines) && !c.IsOne() && len(l.lines[at]) > 0 {
		return l.lines[at], nil
	}
	line, err := l.format(l.last[:0], c)
	l.last = line
	if err != nil || at >= maxTerminal || c.IsOne() {
		return line, err
	}
	if l.kept > maxLines {
		clear(l.ranks)
		l.lines, l.kept = nil, 0
	}
	if more := at + 1 - len(l.lines); more > 0 {
		l.lines = append(l.lines, make([][]byte, more)...)
		l.ranks[c.Rank] = l.lines
		l.kept += 24 * more
	}
	if l.lines[at] == nil {
		l.lines[at] = once
		return line, nil
	}
	l.lines[at] = bytes.Clone(line)
	l.kept += len(line)
	return line, nil
}
