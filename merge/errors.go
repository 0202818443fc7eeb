package merge

import (
	"fmt"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
)

// Errors that the errors of [Open], [Trace.Calls] and [Trace.Part] wrap, for use
// with [errors.Is].
var (
	ErrCorrupt = wire.ErrCorrupt
	ErrLimit   = wire.ErrLimit
)

// A ParseError reports where and why the content of a section was rejected:
// Package by which package, Offset that of the first byte of the offending
// field, from the start of the content or, in package format, of the file,
// Field its name in the documentation of that package, and Err wraps
// [ErrCorrupt], [ErrLimit] or [io.ErrUnexpectedEOF].
type ParseError = wire.Error

// A SectionError reports which section of a trace was rejected.
type SectionError struct {
	Kind   format.Kind
	Key    uint64 // the number of the section, if the kind has several
	Offset int64  // in the file, of its record or the one it shares; −1 if the file has no such section or it does not matter where
	Err    error  // wraps a [*ParseError] or [ErrCorrupt], or is the error of the underlying reader
}

func (e *SectionError) Error() string {
	name := KindName(e.Kind)
	switch e.Kind {
	case KindColumns, KindGrammars, KindStreams, KindShape, KindSeries:
		name = fmt.Sprintf("%s, number %d", name, e.Key)
	}
	if e.Offset < 0 {
		return fmt.Sprintf("%s: %v", name, e.Err)
	}
	return fmt.Sprintf("%s, section at offset %d: %v", name, e.Offset, e.Err)
}

func (e *SectionError) Unwrap() error { return e.Err }

// corrupt returns an error that wraps ErrCorrupt.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("merge: %w: "+format, append([]any{ErrCorrupt}, args...)...)
}
