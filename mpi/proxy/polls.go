package proxy

import (
	"fmt"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// How a call that asks MPI whether something has happened is made again: what it found in the trace
// is waited for before it. When it found nothing it is made if it can find nothing here: a probe
// asks for a tag that no message has.

// tests reports whether a function asks for requests, and sets a flag if they are complete.
func tests(name string) bool {
	switch spec.Base(name) {
	case "Test", "Testall", "Testany", "Testsome",
		"Request_get_status", "Request_get_status_all", "Request_get_status_any", "Request_get_status_some":
		return true
	}
	return false
}

// repeats reports whether a function that sets a flag is called until it is set: nothing else says
// that it would be.
func repeats(name string) bool {
	switch spec.Base(name) {
	case "Parrived", "Win_test":
		return true
	}
	return false
}

// probes reports whether a function probes for a message without waiting for it.
func probes(name string) bool { return spec.Base(name) == "Iprobe" || spec.Base(name) == "Improbe" }

// probedTag returns an expression in C for the tag of a probe: one that no message has where it
// found nothing, and could find something here, as a message may come earlier than in the trace,
// and be one that nobody receives.
func (s *statement) probedTag(p *spec.Param, v *values) (string, error) {
	flag, err := s.flag()
	if err != nil || flag == "0" && s.mayFindMessage(v) {
		return "NO_TAG", err
	}
	tag, err := s.byValue(p, v)
	if err != nil || flag == "0" || flag == "1" || !s.mayFindMessage(v) {
		return tag, err
	}
	return fmt.Sprintf("(%s) ? %s : NO_TAG", flag, tag), nil
}

// mayFindMessage reports whether some message has one of the tags that a call asks for.
func (g *generator) mayFindMessage(tags *values) bool {
	some := false
	tags.each(func(x cst.Value) {
		some = some || g.tags[x.Int()] || len(g.tags) > 0 && x.Int() == spec.ID("MPI_ANY_TAG")
	})
	return some
}

// findTags finds the tags of messages.
func (g *generator) findTags() {
	g.tags = make(map[int64]bool)
	for _, shape := range g.calls {
		for _, c := range shape {
			if sends := spec.RoleOf(c.signature.Function.Name).Sends; sends != nil && sends.Tag != "" {
				if v := c.argument(sends.Tag); v != nil {
					v.each(func(x cst.Value) { g.tags[x.Int()] = true })
				}
			}
		}
	}
}

// noTag returns a tag that no message has. Each MPI has those up to 32767.
func (g *generator) noTag() int64 {
	tag := int64(32767)
	for tag > 0 && g.tags[tag] {
		tag--
	}
	for g.tags[tag] {
		tag++
	}
	return tag
}

// forced returns a call, as it is written, so that it finds what it found in the trace.
func (s *statement) forced(line string) (string, error) {
	name := s.signature.Function.Name
	switch {
	case s.sure && tests(name):
		return line, nil
	case tests(name) && s.chose:
		return fmt.Sprintf("if (%s) %s", s.possible, line), nil
	case tests(name):
		return s.forcedTest(line)
	case probes(name):
		flag, err := s.flag()
		if err != nil {
			return "", err
		}
		source, tag, comm := s.argumentText("source"), s.argumentText("tag"), s.argumentText("comm")
		if strings.HasPrefix(source, "from(") {
			return line, nil // it waits
		}
		switch flag {
		case "0":
		case "1":
			s.before = append(s.before, fmt.Sprintf("until_arrived(%s, %s, %s);", source, tag, comm))
		default:
			s.before = append(s.before, fmt.Sprintf("found(%s, %s, %s, %s);", flag, source, tag, comm))
		}
		return line, nil
	case repeats(name):
		flag, err := s.flag()
		switch {
		case err != nil:
			return "", err
		case flag == "0": // nothing is there at any time
			return line, nil
		case flag == "1":
			return "do " + line + " while (!flag);", nil
		}
		return fmt.Sprintf("if (%s) do %s while (!flag);", flag, line), nil
	}
	return line, nil
}

// forcedTest returns a test of one or of all of some requests so that it finds what it found in the trace.
func (s *statement) forcedTest(line string) (string, error) {
	if !s.mayHaveRequests() {
		return line, nil // which finds the same each time
	}
	flag, err := s.flag()
	if err != nil {
		return "", err
	}
	requests, count := s.argumentText("request"), "1"
	if requests == "" {
		requests, count = s.argumentText("array_of_requests"), s.argumentText("count")
	} else if requests[0] != '&' {
		requests = "&" + requests
	}
	waits := fmt.Sprintf("until_complete(%s, %s)", requests, count)
	if spec.Base(s.function.Name) != "Test" {
		switch {
		case flag != "1":
			return fmt.Sprintf("if (reached(%s, %s, %s)) %s", flag, requests, count, line), nil
		case s.haveRequests(): // one that found nothing in the trace may have completed them here
			return fmt.Sprintf("if (%s) %s", waits, line), nil
		}
		s.before = append(s.before, waits+";")
		return line, nil
	}
	// One that found nothing in the trace may have completed the request here: then there is none to be
	// tested any more, but where there was none in the trace, either.
	none, err := s.noRequest()
	switch {
	case err != nil:
		return "", err
	case none == "1":
		return line, nil
	case flag != "1":
		waits = fmt.Sprintf("%s && %s", flag, waits)
	}
	if none != "0" {
		waits = fmt.Sprintf("%s || (%s)", none, waits)
	}
	return fmt.Sprintf("if (%s) %s", waits, line), nil
}

// mayHaveRequests reports whether some call had a request in the trace.
func (s *statement) mayHaveRequests() bool {
	some := false
	for _, name := range []string{"request", "array_of_requests"} {
		if v := s.argument(name); v != nil {
			v.each(func(x cst.Value) { some = some || hasRequest(x) })
		}
	}
	return some
}

// haveRequests reports whether each array of requests of a call had one in the trace.
func (s *statement) haveRequests() bool {
	list := s.argument("array_of_requests")
	if list == nil {
		return false
	}
	all := true
	list.each(func(x cst.Value) { all = all && hasRequest(x) })
	return all
}

// hasRequest reports whether a request, or one of several, is one.
func hasRequest(x cst.Value) (some bool) {
	eachNumber(x, func(x cst.Value) { some = some || isObject(x.Int()) })
	return some
}

// noRequest returns an expression in C for whether the request of a call was MPI_REQUEST_NULL in the trace.
func (s *statement) noRequest() (string, error) {
	plain := *s.argument("request")
	plain.expr = nil
	return s.number(&plain, s.key(), "no_request", func(x cst.Value) int64 {
		if isObject(x.Int()) {
			return 0
		}
		return 1
	}, numberName(""))
}

// argumentText returns what is written for an argument.
func (s *statement) argumentText(name string) string {
	for i, p := range s.function.Declared() {
		if p.Name == name && i < len(s.args) {
			return s.args[i]
		}
	}
	return ""
}

// flag returns an expression in C for the flag that was recorded.
func (s *statement) flag() (string, error) {
	v := s.argument("flag")
	if v == nil {
		return "0", nil
	}
	return s.number(v, s.key(), "flag", cst.Value.Int, numberName(""))
}

// chosen returns expressions in C for the indices of the requests that a call completed that
// completes some of them, and how many they are, or nothing for other calls.
func (s *statement) chosen() (indices, completed string, err error) {
	name := spec.Base(s.signature.Function.Name)
	switch name {
	case "Waitany", "Testany", "Request_get_status_any":
		completed = "1"
		if name != "Waitany" {
			if completed, err = s.flag(); err != nil {
				return "", "", err
			}
		}
		v := s.argument("index")
		if v == nil {
			return "NULL", "0", nil
		}
		index, err := s.number(v, s.key(), "index", cst.Value.Int, numberName("int"))
		if err != nil {
			return "", "", err
		}
		return fmt.Sprintf("&(int){%s}", index), completed, nil
	case "Waitsome", "Testsome", "Request_get_status_some":
		count, v := s.argument("outcount"), s.argument("array_of_indices")
		if v == nil || count == nil {
			return "NULL", "0", nil
		}
		if completed, err = s.number(count, s.key(), "outcount", cst.Value.Int, numberName("int")); err != nil {
			return "", "", err
		}
		indices, err := s.row(v, s.key(), "indices", "int", cst.Value.Int, numberName("int"))
		return indices, completed, err
	}
	return "", "", nil
}
