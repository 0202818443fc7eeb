package slice

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Errors are the conditions of a module that lead to an error only.
type Errors struct {
	s      *scanner
	list   []*condition // in the order of the module
	thrown []bool       // it leads to an exception of C++

	decided map[int]bool // those that Needless finds to be constant, of which nothing is assumed
}

// ReadErrors finds the conditions in the text of a module that lead to an error only: to a call of abort, of
// MPI_Abort, of exit with another constant than 0, or of a function that always ends so. If the text was read
// for exceptions, which are then not nil, those that no handler of the program goes on from are errors, too.
func ReadErrors(text []byte, x *Exceptions) *Errors {
	s := newScanner(text)
	s.scan()
	ends := s.errors()
	e := &Errors{s: s, list: ends, decided: map[int]bool{}}
	if x != nil {
		s.failing, s.exceptions = x.failing(), x
		e.list = s.errors()
	}
	slices.SortFunc(e.list, func(a, b *condition) int { return a.line - b.line })
	for _, c := range e.list {
		e.thrown = append(e.thrown, !slices.Contains(ends, c))
	}
	return e
}

// failing returns the texts of the lines that throw exceptions which are errors, and no others.
func (x *Exceptions) failing() map[string]bool {
	texts := map[string]bool{}
	for _, s := range x.sites {
		text := x.m.lines[s.line]
		before, seen := texts[text]
		texts[text] = !s.goes && (before || !seen)
	}
	maps.DeleteFunc(texts, func(_ string, isError bool) bool { return !isError })
	return texts
}

// Len returns how many conditions there are.
func (e *Errors) Len() int { return len(e.list) }

// Assume assumes that conditions do not lead to errors, by their numbers from 0, or all of them if which is nil.
// It returns the text of the module, and what is assumed, in the order of the module.
func (e *Errors) Assume(which []int) ([]byte, []Assumption) {
	lines := slices.Clone(e.s.m.lines)
	var assumed []Assumption
	for k, c := range e.list {
		if which != nil && !slices.Contains(which, k) {
			continue
		}
		lines[c.line] = c.assumed(lines[c.line])
		if !e.decided[k] {
			assumed = append(assumed, c.Assumption)
		}
	}
	return []byte(strings.Join(lines, "\n")), assumed
}

// probe begins the names of the functions that are called where a condition is, with its number behind it.
const probe = "reprise.probe."

// Probed returns the text of the module in which no condition leads to an error, and in the place of each is a
// call that uses it, for Needless.
func (e *Errors) Probed() []byte {
	lines := slices.Clone(e.s.m.lines)
	for k, c := range e.list {
		line := lines[c.line]
		lines[c.line] = fmt.Sprintf("  call void @%s%d(i1 %s)%s\n%s", probe, k,
			branch.FindStringSubmatch(line)[2], debugOf.FindString(line), c.assumed(line))
		lines = append(lines, fmt.Sprintf(
			"declare void @%s%d(i1) nounwind willreturn memory(inaccessiblemem: readwrite)", probe, k))
	}
	return []byte(strings.Join(lines, "\n"))
}

// Needless returns the conditions that calls of MPI do not need, and that cannot be decided for nothing: with
// them, a slice would write or allocate memory, or receive data, that it does without. Of those that lead to
// exceptions, it returns also those that depend on no message, and those of the library of C++. The module is made of the text that Probed returns, and
// must not be used for anything else.
func (e *Errors) Needless(m *Module, o Options) ([]int, error) {
	s, err := newSlicer(m, o)
	if err != nil {
		return nil, err
	}
	s.probing = slices.Contains(e.thrown, true)
	s.note()
	s.prove()
	s.begin()
	for s.drain(); s.keepFrees(); s.drain() {
	}
	s.probing = true
	needless := []int{}
	var free []int
	for k := range e.list {
		switch {
		case s.isDecided(k, e.list[k].taken()):
			e.decided[k] = true
			needless = append(needless, k)
		case e.thrown[k] && libraryHeader.MatchString(e.list[k].File) || s.costs(k):
			needless = append(needless, k)
		case e.thrown[k]:
			free = append(free, k)
		}
	}
	for _, k := range free {
		s.clear()
		s.needProbes(k)
		s.drain()
		if !s.dependsOnMessages() {
			needless = append(needless, k)
		}
	}
	slices.Sort(needless)
	return needless, nil
}

// libraryHeader matches headers of the library of C++, which check that sizes are possible.
var libraryHeader = regexp.MustCompile(`/include/c\+\+/`)

// isDecided reports whether a condition has a value wherever it is reached.
func (s *slicer) isDecided(k int, value bool) bool {
	return !slices.ContainsFunc(s.probes[fmt.Sprint(k)], func(i *instruction) bool {
		v := i.operands[0]
		return !v.isNumber || (v.number != 0) != value
	})
}

// needProbes notes that a condition is needed.
func (s *slicer) needProbes(k int) {
	for _, i := range s.probes[fmt.Sprint(k)] {
		s.need(i, nil, "")
		s.needCalls(i.block.of, i)
	}
}

// A trial is what is needed as long as it needs no more data, with how to take it back.
type trial struct {
	costs bool
	undo  []func()
}

// costs reports whether a condition needs more data. It is needed from now on if it does not.
func (s *slicer) costs(k int) bool {
	t := &trial{}
	s.trial = t
	s.needProbes(k)
	for len(s.queue) > 0 && !t.costs {
		i := s.queue[0]
		s.queue = s.queue[1:]
		s.follow(i)
	}
	s.trial = nil
	if t.costs {
		s.queue = nil
		for _, undo := range slices.Backward(t.undo) {
			undo()
		}
	}
	return t.costs
}

// set sets what says that something is needed.
func (s *slicer) set(flag *bool) {
	*flag = true
	if s.trial != nil {
		s.trial.undo = append(s.trial.undo, func() { *flag = false })
	}
}

// addsData reports whether an instruction writes memory, or allocates some.
func (s *slicer) addsData(i *instruction) bool {
	if i.op == "store" {
		return true
	}
	if len(i.effects) == 0 {
		return false
	}
	_, writes := s.memory.accesses(i)
	return len(writes) > 0 || slices.ContainsFunc(i.effects, func(e *effect) bool { return e.result == newResult })
}

// dependsOnMessages reports whether what is needed is in messages, or depends on which come first.
func (s *slicer) dependsOnMessages() bool {
	return len(s.got) > 0 || slices.ContainsFunc(s.calls, func(i *instruction) bool {
		return i.kept && slices.ContainsFunc(i.effects, func(e *effect) bool { return e.open })
	})
}

// clear notes that nothing is needed.
func (s *slicer) clear() {
	for _, f := range s.memory.reached {
		f.needed, f.resultUsed, f.restNeeded = false, false, false
		for _, p := range f.params {
			p.needed = false
		}
		for _, b := range f.blocks {
			for _, i := range b.instructions {
				i.kept, i.copiesAll, i.why = false, false, nil
			}
		}
	}
	for _, w := range s.written {
		w.read = 0
	}
	clear(s.got)
	clear(s.sent)
	clear(s.read)
	clear(s.parts)
	clear(s.readers)
}

// errors assumes that no error is met, and returns the conditions that are of one.
func (s *scanner) errors() (list []*condition) {
	for changed := true; changed; {
		changed = false
		for _, f := range s.functions {
			changed = s.fail(f) || changed
		}
	}
	for _, f := range s.functions {
		fails := map[string]bool{}
		for _, b := range f.blocks {
			fails[b.label] = b.fails
		}
		for _, c := range f.conditions {
			if fails[c.labels[0]] != fails[c.labels[1]] {
				c.Always = fails[c.labels[1]]
				list = append(list, c)
			}
		}
	}
	return list
}

// fail notes which blocks of a function end the program with an error, and reports whether there is something
// new.
func (s *scanner) fail(f *textFunction) (changed bool) {
	fails := map[string]bool{}
	for again := true; again; {
		again = false
		for _, b := range slices.Backward(f.blocks) {
			if fails[b.label] {
				continue
			}
			all := len(b.next) > 0
			for _, label := range b.next {
				all = all && (fails[label] || label == b.lands && s.isQuiet(b.calls))
			}
			if all || slices.ContainsFunc(b.calls, s.isError) {
				fails[b.label], again = true, true
				changed = changed || !b.fails
				b.fails = true
			}
		}
	}
	f.fails = f.blocks[0].fails
	return changed
}

var (
	failure = regexp.MustCompile(`^i32 (noundef )?(-?\d+)`)
	stop    = regexp.MustCompile(`i1 (true|false), i1 (true|false)$`)
)

// isQuiet reports whether no exception that is seen leaves the last of some calls: it is of a function outside of
// the module, or of one that lets none pass.
func (s *scanner) isQuiet(calls []string) bool {
	if len(calls) == 0 {
		return false
	}
	name := called.FindStringSubmatch(calls[len(calls)-1])[1]
	if s.byName[name] != nil {
		return s.exceptions != nil && !s.exceptions.mayThrow(ehCall{callee: resolved(s.exceptions.aliases, "@"+name)})
	}
	return !isThrow("@" + name)
}

// isError reports whether a call ends the program with an error.
func (s *scanner) isError(text string) bool {
	call := called.FindStringSubmatch(text)
	name, arguments := call[1], call[2]
	if s.failing[text] {
		return true
	}
	status := failure.FindStringSubmatch(arguments)
	switch name {
	case "abort", "MPI_Abort", "PMPI_Abort", "mpi_abort_", "__assert_fail", "_FortranAAbort", "_ZSt9terminatev", "__clang_call_terminate":
		return true
	case "exit", "_exit", "_Exit", "quick_exit":
		return status != nil && status[2] != "0"
	case "_FortranAStopStatement", "_FortranAStopStatementText":
		error := stop.FindStringSubmatch(arguments)
		return error != nil && error[1] == "true" || status != nil && status[2] != "0"
	}
	f := s.byName[name]
	return f != nil && f.fails
}
