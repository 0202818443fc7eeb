package trace_test

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/textcases"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestPrint checks how calls are printed of runs whose ranks each make those of some lines, such as
//
//	wait(request:request=3.1, >status:status={1 7 0}|{2 7 0})
//
// in which parameters have names, types and values. Types are those of package cst, classes of handles, and
// lists of these; > stands before results, <> before what is both. Requests are written as pool.index,
// pointers as {segment displacement device}, statuses as {source tag error}. With | between, names and values
// are those of one rank after the other, and then again. Printed are the calls of the ranks in of, those of
// the ranks in absolute with numbers for ranks, and, if shown, signatures or their canonical texts.
func TestPrint(t *testing.T) { textcases.Run(t, "testdata/prints.txt", printedCase) }

func printedCase(t *testing.T, c textcases.Case) string {
	tr := recordedTrace(t, mpiNames, c.Int(t, "ranks", 1), nil, func(rank int, r *tracer.Recorder) {
		for line := range strings.Lines(c.Input) {
			s := scanner{strings.TrimSpace(line), rank}
			f, args := s.call()
			r.Call(r.Declare(f), args...)
		}
	})
	var lines []string
	for _, by := range []string{"of", "absolute"} {
		for rank := range strings.SplitSeq(c.Arg(by), ",") {
			if rank != "" {
				lines = append(lines, printed(t, tr, must.Get(strconv.Atoi(rank)),
					trace.PrintOptions{Absolute: by == "absolute"})...)
			}
		}
	}
	p := tr.Printer(trace.PrintOptions{})
	for n := range tr.Signatures() {
		switch c.Arg("show") {
		case "signatures":
			lines = append(lines, tr.Signature(n).String())
		case "canonical":
			lines = append(lines, p.Canonical(n))
		}
	}
	return strings.Join(lines, "\n")
}

// A scanner reads a call of a rank.
type scanner struct {
	text string
	rank int
}

// skip skips a text if it is next.
func (s *scanner) skip(text string) bool {
	rest, ok := strings.CutPrefix(s.text, text)
	s.text = rest
	return ok
}

func (s *scanner) expect(text string) {
	if !s.skip(text) {
		panic(fmt.Sprintf("no %s before %q", text, s.text))
	}
}

// word reads what is quoted, or up to a separator.
func (s *scanner) word() (word string) {
	if quoted, err := strconv.QuotedPrefix(s.text); err == nil {
		s.expect(quoted)
		return must.Get(strconv.Unquote(quoted))
	}
	end := strings.IndexAny(s.text, " ,:=|()[]{}")
	word, s.text = s.text[:end], s.text[end:]
	return word
}

func (s *scanner) number() int64 { return must.Get(strconv.ParseInt(s.word(), 10, 64)) }

func (s *scanner) call() (f cst.Function, args []cst.Value) {
	names := []string{s.word()}
	for s.skip("|") {
		names = append(names, s.word())
	}
	f.Name = names[s.rank%len(names)]
	for s.expect("("); !s.skip(")"); s.skip(", ") {
		var p cst.Param
		switch {
		case s.skip("<>"):
			p.Direction = cst.InOut
		case s.skip(">"):
			p.Direction = cst.Out
		}
		p.Name = s.word()
		s.expect(":")
		p.Type = s.typ()
		s.expect("=")
		values := []cst.Value{s.value(p.Type)}
		for s.skip("|") {
			values = append(values, s.value(p.Type))
		}
		f.Params, args = append(f.Params, p), append(args, values[s.rank%len(values)])
	}
	return f, args
}

func (s *scanner) typ() cst.Type {
	if s.skip("[") {
		t := s.typ()
		s.expect("]")
		return cst.ArrayOf(t)
	}
	name := s.word()
	for k := cst.KindInt; k < cst.KindArray; k++ {
		if k.String() == name {
			return cst.Type{Kind: k}
		}
	}
	return cst.HandleOf(name)
}

func (s *scanner) value(t cst.Type) cst.Value {
	switch t.Kind {
	case cst.KindString:
		return cst.String(s.word())
	case cst.KindBytes:
		return cst.Bytes(must.Get(hex.DecodeString(s.word())))
	case cst.KindFloat:
		return cst.Float(must.Get(strconv.ParseFloat(s.word(), 64)))
	case cst.KindArray:
		list := []cst.Value{}
		for s.expect("["); !s.skip("]"); s.skip(" ") {
			list = append(list, s.value(*t.Elem))
		}
		return cst.Array(list...)
	case cst.KindPointer, cst.KindStatus:
		var n []int64
		for s.expect("{"); !s.skip("}"); s.skip(" ") {
			n = append(n, s.number())
		}
		if t.Kind == cst.KindPointer {
			return cst.PointerTo(cst.Pointer{Segment: n[0], Displacement: n[1], Device: n[2]})
		}
		return cst.StatusOf(cst.Status{Source: n[0], Tag: n[1], Error: n[2]})
	case cst.KindRank:
		return cst.Rank(s.number())
	case cst.KindTag:
		return cst.Tag(s.number())
	case cst.KindHandle:
		word := s.word()
		if pool, index, ok := strings.Cut(word, "."); ok {
			return cst.Handle(requestid.Join(must.Get(strconv.ParseInt(pool, 10, 64)),
				must.Get(strconv.ParseInt(index, 10, 64))))
		}
		return cst.Handle(must.Get(strconv.ParseInt(word, 10, 64)))
	}
	return cst.Int(s.number())
}
