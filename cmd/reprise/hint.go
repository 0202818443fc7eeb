package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/ti"
)

// hint returns what to add to an error of a command to say what helps, or an
// empty string.
func hint(command string, err error) string {
	var (
		read    *ti.ReadError
		content *ti.ContentError
		parse   *reprise.ParseError
		section *merge.SectionError
		damaged damagedError
	)
	switch {
	case errors.As(err, &read) && errors.As(err, &content):
		return contentHint(command, read.File, content.Content)
	case command == "cat" && errors.As(err, new(notTextError)):
		return "; reprise cat --format text, or json, writes its calls"
	case command == "repair":
	case errors.Is(err, errBeginning):
		return "; if it was one, reprise repair may save the rest"
	case errors.Is(err, errNoTrace) && command == "verify":
		return ": the trace comes first, then what it was made from"
	case errors.Is(err, errActions):
		return ": compress it first"
	case errors.Is(err, errNoTrace):
		return ": reprise record makes one of an MPI program, reprise compress of SimGrid's text"
	case errors.As(err, &damaged):
		return "; reprise repair may save the rest" + damaged.detail()
	case errors.As(err, &section) && (section.Kind == merge.KindPart || section.Kind == merge.KindShape): // of a part file
	case !errors.As(err, &parse) && section == nil: // not about a trace
	case errors.Is(err, reprise.ErrCorrupt), errors.Is(err, io.ErrUnexpectedEOF):
		return "; reprise repair may save the rest"
	}
	return ""
}

// contentHint returns how a file that holds something else than text is used.
func contentHint(command, file, content string) string {
	if file == "input" { // as package ti calls standard input
		file = "FILE"
	}
	rest := "compress - -o OUT.rpz"
	if command == "verify" {
		rest = "verify TRACE.rpz -"
	}
	switch {
	case content == "trace" && command == "verify":
		return fmt.Sprintf(": two traces are compared by diff, as in reprise diff TRACE.rpz %s", file)
	case content == "trace":
		return fmt.Sprintf(": reprise info %s describes it, reprise cat %s writes its text", file, file)
	case content == "bzip2":
		return fmt.Sprintf(": decompress it first, for instance bzip2 -dc %s | reprise %s", file, rest)
	}
	return fmt.Sprintf(": decompress it first, for instance %s -dc %s | reprise %s", content, file, rest)
}
