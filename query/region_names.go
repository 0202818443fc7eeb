package query

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/skeleton"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// A codeLine is a line of a function.
type codeLine struct {
	function, file string
	line           int
}

// frameOf returns what the name of a place says, such as solver.c:120 solve.
func frameOf(place string) (f codeLine, ok bool) {
	at, function, ok := strings.Cut(place, " ")
	i := strings.LastIndexByte(at, ':')
	if !ok || i < 0 {
		return codeLine{}, false
	}
	line, err := strconv.Atoi(at[i+1:])
	return codeLine{function, at[:i], line}, err == nil
}

func (f codeLine) String() string { return f.function + "() " + f.file + ":" + strconv.Itoa(f.line) }

// framesOf returns the lines that led to calls of a signature, the outermost first; none if they are not known.
func (f *phaseFinder) framesOf(s sequitur.Symbol) []codeLine {
	signature := f.trace.Signature(int(s))
	if layout.SiteOf(signature.Function) < 0 {
		return nil
	}
	var list []codeLine
	for _, place := range Frames(f.siteOf(signature)) {
		if at, ok := frameOf(place); ok {
			list = append([]codeLine{at}, list...)
		} else if place != "…" {
			return nil
		}
	}
	return list
}

// siteOf returns the place of the calls of a signature: one of them, if they differ from rank to rank.
func (f *phaseFinder) siteOf(s trace.Signature) string {
	a := s.Args[layout.SiteOf(s.Function)]
	if v, ok := a.Constant(); ok {
		return f.sites.name(v.Int())
	}
	for _, p := range f.programs {
		if v, err := a.At(p.Ranks.At(0)); err == nil && v.Kind() == cst.KindHandle {
			return f.sites.name(v.Int())
		}
	}
	return ""
}

// nameOf returns the function that a loop is in, and its first line with a call or with what leads to one, such
// as solve() solver.c:120: the innermost function that leads to all calls or, where only the functions with the
// calls are known and these are several, main if it makes some of them, and else that of the first call that is in
// as few other loops as possible. It is empty where sites are not known.
func (f *phaseFinder) nameOf(n *skeleton.Node) string {
	var calls [][]codeLine
	var visit func(n *skeleton.Node)
	visit = func(n *skeleton.Node) {
		for _, c := range n.Calls {
			calls = append(calls, f.framesOf(c.Call))
		}
		for _, inner := range n.Body {
			visit(inner)
		}
	}
	visit(n)
	best, found := codeLine{}, false
	for depth := 0; ; depth++ {
		same := true // they lead on from one line
		var at codeLine
		for i, list := range calls {
			if depth >= len(list) || i > 0 && (list[depth].function != at.function || list[depth].file != at.file) {
				if found {
					return best.String()
				}
				return cmp.Or(lineIn(calls, "main", "MAIN__"), f.firstIn(n))
			}
			if same = same && (i == 0 || list[depth].line == at.line); i == 0 || list[depth].line < at.line {
				at = list[depth]
			}
		}
		if best, found = at, len(calls) > 0; !same || !found {
			break
		}
	}
	if !found {
		return ""
	}
	return best.String()
}

// lineIn returns the first line of a function with some names that makes some of the calls.
func lineIn(calls [][]codeLine, names ...string) string {
	best := codeLine{}
	for _, list := range calls {
		if len(list) == 0 {
			continue
		}
		at := list[len(list)-1]
		if slices.Contains(names, at.function) && (best.line == 0 || at.line < best.line) {
			best = at
		}
	}
	if best.line == 0 {
		return ""
	}
	return best.String()
}

// firstIn returns the place of the first call of a loop that is in as few other loops as possible.
func (f *phaseFinder) firstIn(n *skeleton.Node) string {
	for level := []*skeleton.Node{n}; len(level) > 0; {
		var next []*skeleton.Node
		for _, n := range level {
			if len(n.Calls) > 0 {
				if list := f.framesOf(n.Calls[0].Call); len(list) > 0 {
					return list[len(list)-1].String()
				}
			}
			next = append(next, n.Body...)
		}
		level = next
	}
	return ""
}
