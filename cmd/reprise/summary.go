package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
)

// A summary is what compress reports.
type summary struct {
	Input      []string `json:"input"`
	Output     string   `json:"output"`
	Part       bool     `json:"part"` // a part file, not a trace
	Ranks      int      `json:"ranks"`
	Active     int      `json:"ranks_with_calls"`
	Calls      uint64   `json:"calls"`
	TextBytes  uint64   `json:"text_bytes"`
	TraceBytes int64    `json:"trace_bytes"`
	Foreign    uint64   `json:"foreign_lines"`
	First      string   `json:"first_foreign_line"` // its place and text; empty if there is none
	Comments   uint64   `json:"comment_lines"`
	Incomplete []string `json:"incomplete"`
	Restarts   []string `json:"restarts"`
	Ignored    []string `json:"not_read"` // of directories
	Beyond     *beyond  `json:"beyond"`   // null if calls name only ranks of the run

	known bool // the number of ranks, without the lines
}

// inputs returns the names of the inputs, or their number if that is long.
func (s *summary) inputs() string {
	const most = 3
	switch {
	case len(s.Input) > most:
		return text.Plural(len(s.Input), "file")
	case len(s.Input) == 1 && s.Input[0] == "-":
		return "standard input"
	}
	return strings.Join(s.Input, " ")
}

func (s *summary) print(stdout, stderr io.Writer) {
	ranks := rankCount(s.Ranks, s.Active)
	if s.Part {
		ranks = text.Plural(s.Active, "rank")
	}
	fmt.Fprintf(stdout, "%s: %s, %s, %s of text -> %s: %s, %s\n", s.inputs(), ranks,
		text.Plural(s.Calls, "call"), text.Plural(s.TextBytes, "byte"), s.Output, text.Plural(s.TraceBytes, "byte"),
		text.Ratio(s.TextBytes, uint64(s.TraceBytes)))
	if s.Foreign > 0 {
		fmt.Fprintf(stderr, "reprise: warning: %s outside the grammar of the format, kept as they are; the first is %s\n",
			text.Plural(s.Foreign, "line"), s.First)
	}
	warnPlaces(stderr, s.Incomplete, "where calls are missing")
	warnPlaces(stderr, s.Restarts, "where a rank begins again")
	s.Beyond.warn(stderr, s.known)
	warnIgnored(stderr, s.Ignored)
}

// warnIgnored warns of what is in directories and was not read: other files, and
// other directories, whose paths end in a separator.
func warnIgnored(stderr io.Writer, paths []string) {
	var files, directories []string
	for _, p := range paths {
		if strings.HasSuffix(p, string(filepath.Separator)) {
			directories = append(directories, p)
		} else {
			files = append(files, p)
		}
	}
	if len(files) > 0 {
		fmt.Fprintf(stderr, "reprise: warning: not read, as they are not named …_rank-1.txt and so on: %s\n", firstOf(files))
	}
	if len(directories) > 0 {
		fmt.Fprintf(stderr, "reprise: warning: not read, as directories are not searched in depth: %s\n", firstOf(directories))
	}
}

// firstOf returns the first of some names, and how many there are more.
func firstOf(names []string) string {
	const most = 5
	list := strings.Join(names[:min(len(names), most)], ", ")
	if n := len(names) - most; n > 0 {
		list += fmt.Sprintf(" and %s more", text.Count(n))
	}
	return list
}

// warnPlaces writes a warning for each place, up to a few.
func warnPlaces(stderr io.Writer, places []string, what string) {
	const most = 5
	for i, line := range places {
		if i == most {
			fmt.Fprintf(stderr, "reprise: warning: %s more %s\n", text.Plural(len(places)-most, "place"), what)
			break
		}
		fmt.Fprintf(stderr, "reprise: warning: %s\n", line)
	}
}

// rankCount returns how many ranks there are, and how many of them with calls.
func rankCount(ranks, active int) string {
	line := text.Plural(ranks, "rank")
	if active < ranks {
		line += fmt.Sprintf(" (%s with calls)", text.Count(active))
	}
	return line
}
