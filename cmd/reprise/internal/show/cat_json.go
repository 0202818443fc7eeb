package show

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/trace"
)

// A JSONCall is a call as --json writes it. Integers are written in full, those
// beyond 2⁵³ too, and floating-point numbers so that no bit is lost. Those that
// JSON has not are strings, as in "NaN", and bytes are in base 64.
type JSONCall struct {
	Schema   int       `json:"schema"`
	Rank     int       `json:"rank"`
	Position uint64    `json:"position"`
	Start    *int64    `json:"start_ns,omitempty"` // like the duration, only if the trace has it
	Duration *int64    `json:"duration_ns,omitempty"`
	Function string    `json:"function"`
	Args     []jsonArg `json:"args"`
}

type jsonArg struct {
	Name   string `json:"name"`
	Value  any    `json:"value"`
	Class  string `json:"class,omitempty"`  // of a handle, or of the handles in an array
	Called any    `json:"called,omitempty"` // what the trace calls the number, or the segment of a pointer; of an array a list, with null for what has no name
}

// newJSONWriter returns a function that writes a call as an object on a line, with
// times since begin.
func newJSONWriter(w *bufio.Writer, tr *trace.Trace, begin int64) callWriter {
	var b bytes.Buffer
	e := cli.NewEncoder(&b)
	names := newJSONNames(tr)
	lines := newCallLines(func(dst []byte, c trace.Call) ([]byte, error) {
		j := JSONCall{Schema: cli.Schema, Function: c.Function.Name, Args: make([]jsonArg, len(c.Args))}
		for i, v := range c.Args {
			p := &c.Function.Params[i]
			j.Args[i] = jsonArg{p.Name, jsonValue(v), classOf(&p.Type), names.of(p.Type, v)}
		}
		b.Reset()
		err := e.Encode(j)
		return append(dst, b.Bytes()[bytes.Index(b.Bytes(), []byte(`"function"`)):]...), err
	})
	begun := fmt.Sprintf(`{"schema":%d,"rank":`, cli.Schema)
	var line []byte
	return func(position uint64, c trace.Call) error {
		line = append(strconv.AppendInt(append(line[:0], begun...), int64(c.Rank), 10), `,"position":`...)
		line = strconv.AppendUint(line, position, 10)
		if c.Timed {
			line = strconv.AppendInt(append(line, `,"start_ns":`...), Since(begin, c.Start), 10)
			line = strconv.AppendInt(append(line, `,"duration_ns":`...), c.Duration, 10)
		}
		text, err := lines.of(c)
		if err != nil {
			return err
		}
		_, _ = w.Write(append(line, ','))
		_, err = w.Write(text)
		return err
	}
}

// Since returns the time from begin to another, or the int64 that is nearest to it.
func Since(begin, time int64) int64 {
	switch d := time - begin; {
	case d < 0 == (time < begin):
		return d
	case time < begin:
		return math.MinInt64
	default:
		return math.MaxInt64
	}
}

// classOf returns the class of what is a handle, or an array of handles.
func classOf(t *cst.Type) string {
	for t.Kind == cst.KindArray {
		t = t.Elem
	}
	return t.Class
}

// jsonValue returns what encodes v in JSON. Arrays nest no deeper
// than 32.
func jsonValue(v cst.Value) any {
	switch v.Kind() {
	case cst.KindInt, cst.KindRank, cst.KindTag, cst.KindHandle:
		return v.Int()
	case cst.KindFloat:
		if f := v.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
		return v.String()
	case cst.KindString:
		return v.Text()
	case cst.KindBytes:
		return []byte(v.Text())
	case cst.KindPointer:
		p := v.Pointer()
		return map[string]int64{"segment": p.Segment, "displacement": p.Displacement, "device": p.Device}
	case cst.KindStatus:
		s := v.Status()
		return map[string]int64{"source": s.Source, "tag": s.Tag, "error": s.Error}
	}
	list := make([]any, v.Len())
	for i := range list {
		list[i] = jsonValue(v.Index(i))
	}
	return list
}

// jsonNames are the names of numbers.
type jsonNames map[format.Name]string

func newJSONNames(tr *trace.Trace) jsonNames {
	names := make(jsonNames)
	for _, n := range tr.Run().Names {
		names[format.Name{Kind: n.Kind, Class: n.Class, Value: n.Value}] = n.Name
	}
	return names
}

// of returns what v, of type t, is called: a string, a list if some of its elements
// are called something, or nil.
func (names jsonNames) of(t cst.Type, v cst.Value) any {
	if len(names) == 0 {
		return nil
	}
	n := format.Name{Kind: t.Kind, Class: t.Class}
	switch t.Kind {
	case cst.KindInt, cst.KindRank, cst.KindTag, cst.KindHandle:
		n.Value = v.Int()
	case cst.KindPointer:
		n.Value = v.Pointer().Segment
	case cst.KindArray:
		list, some := make([]any, v.Len()), false
		for i := range list {
			list[i] = names.of(*t.Elem, v.Index(i))
			some = some || list[i] != nil
		}
		if !some {
			return nil
		}
		return list
	}
	if name, ok := names[n]; ok {
		return name
	}
	return nil
}
