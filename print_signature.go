package reprise

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
)

// Signature returns s with the words of p for the handles, pointers and statuses that
// it has as numbers: for those that all ranks of s share. What differs from rank to
// rank or from call to call stays as it is. The requests are called what they are
// called in the calls of r, which is to be one of the ranks that s describes, or nil:
// then all are as request#7.
func (p *Printer) Signature(r *Rank, s merge.Signature) merge.Signature {
	x := printing{Printer: p, of: r}
	if r != nil {
		x.rank = p.printed(r)
	}
	args := make([]string, len(s.Args))
	for i, text := range s.Args {
		args[i] = x.reword(&s.Function.Params[i].Type, text)
	}
	s.Args = args
	return s
}

// Texts of values in a [merge.Signature], which are those of [cst.Value.AppendText].
var (
	pointerText = regexp.MustCompile(`\bseg(-?\d+)([+-]\d+)(?:@(-?\d+))?`)
	statusText  = regexp.MustCompile(`\{source=(-?\d+), tag=(-?\d+), error=(-?\d+)\}`)
)

// reword returns the text of an argument of a type in other words.
func (p *printing) reword(t *cst.Type, text string) string {
	elem := t
	for elem.Kind == cst.KindArray {
		elem = elem.Elem
	}
	switch elem.Kind {
	case cst.KindHandle:
		return p.rewordHandles(elem, text)
	case cst.KindPointer:
		return rewordAll(pointerText, text, func(n []int64) string {
			return p.text(func() { p.pointer(cst.Pointer{Segment: n[0], Displacement: n[1], Device: n[2]}) })
		})
	case cst.KindStatus:
		if t.Kind == cst.KindStatus && !statusText.MatchString(text) {
			return p.rewordStatus(text)
		}
		return rewordAll(statusText, text, func(n []int64) string {
			return p.text(func() { p.status(cst.Status{Source: n[0], Tag: n[1], Error: n[2]}, -1) })
		})
	}
	return text
}

// text returns what write writes.
func (p *printing) text(write func()) string {
	p.dst = p.dst[:0]
	write()
	return string(p.dst)
}

// rewordAll replaces what matches by what is returned for the numbers in it; 0 stands
// for one that is not there. What has a number that is none is left as it is.
func rewordAll(pattern *regexp.Regexp, text string, by func(numbers []int64) string) string {
	return pattern.ReplaceAllStringFunc(text, func(match string) string {
		var numbers []int64
		for _, group := range pattern.FindStringSubmatch(match)[1:] {
			n, err := strconv.ParseInt(group, 10, 64)
			if err != nil && group != "" {
				return match
			}
			numbers = append(numbers, n)
		}
		return by(numbers)
	})
}

// rewordHandles rewords a handle, or an array of handles. Other numbers are left as
// they are: those of expressions, of [64 by rank] and of [1 2 … 64 elements].
func (p *printing) rewordHandles(t *cst.Type, text string) string {
	word := func(number string) string {
		id, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return number
		}
		return p.text(func() { p.handle(t, id) })
	}
	if !strings.HasPrefix(text, "[") || strings.HasSuffix(text, " by rank]") {
		return word(text)
	}
	list, _, cut := strings.Cut(text, "…")
	if cut {
		list = list[:strings.LastIndexByte(list, ' ')+1] // what follows may be part of a number
	}
	words := strings.Split(list, " ")
	for i, w := range words {
		number := strings.Trim(w, "[]")
		words[i] = strings.Replace(w, number, word(number), 1)
	}
	return strings.Join(words, " ") + text[len(list):]
}

// rewordStatus rewords a status of which some parts differ from rank to rank, or from
// call to call.
func (p *printing) rewordStatus(text string) string {
	source, rest, ok := strings.Cut(strings.TrimPrefix(text, "{source="), ", tag=")
	tag, code, more := strings.Cut(strings.TrimSuffix(rest, "}"), ", error=")
	if !ok || !more {
		return text
	}
	var parts []string
	part := func(name, value string, nothing int64) {
		n, err := strconv.ParseInt(value, 10, 64)
		if err == nil && n == nothing {
			return
		}
		if err == nil && name == "source" {
			value = p.text(func() { p.rankValue(n, -1) })
		} else if err == nil && name == "tag" {
			value = p.text(func() { p.number(&tagType, n) })
		}
		parts = append(parts, name+"="+value)
	}
	part("source", source, implied)
	part("tag", tag, implied)
	part("error", code, 0)
	return "{" + strings.Join(parts, ", ") + "}"
}
