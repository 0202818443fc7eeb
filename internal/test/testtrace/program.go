package testtrace

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// usual are the arguments of parameters that lines of a program do not name.
var usual = map[string]string{
	"comm": "MPI_COMM_WORLD", "local_comm": "MPI_COMM_WORLD", "peer_comm": "MPI_COMM_WORLD", "win": "0", "assert": "0",
	"count": "1", "datatype": "MPI_BYTE", "origin_count": "1", "origin_datatype": "MPI_BYTE",
	"sendcount": "1", "sendtype": "MPI_BYTE", "recvcount": "1", "recvtype": "MPI_BYTE",
}

// Program returns the parts of ranks that make the calls of a text, in lines of ranks, the time before the
// call if it matters, how many times it is made if not once, a function, and arguments:
//
//	0-1: 3 MPI_Comm_size
//	0,3: +9us MPI_Recv source=1 tag=3
//	2: MPI_Waitall array_of_requests=[0 1] returned=0
//
// Values are those of [Recording.MPI], statuses {source tag}. Parameters that have no value are left out,
// unless there is a usual one. A rank without calls makes one of MPI_Finalize, else it would not be in the
// trace. The parts have no times: before has those before calls, by rank and position.
func Program(t TB, ranks int, text string) (parts []merge.Part, before map[[2]int]time.Duration) {
	t.Helper()
	p := program{make([]Recording, ranks), make(map[[2]int]time.Duration)}
	for line := range strings.Lines(text) {
		if err := p.add(line); err != nil {
			t.Fatal(fmt.Sprintf("%q: %v", line, err))
		}
	}
	for rank := range p.ranks {
		r := &p.ranks[rank]
		if r.Len() == 0 {
			r.MPI(1, "MPI_Finalize")
		}
		parts = append(parts, r.Finish(rank))
	}
	return parts, p.before
}

// A program is what [Program] has read of it.
type program struct {
	ranks  []Recording
	before map[[2]int]time.Duration
}

// word is one of a line, with a list or a status.
var word = regexp.MustCompile(`[^\s=\[{]+=\[[^]]*\]|[^\s=\[{]+=\{[^}]*\}|\{[^}]*\}|\S+`)

// add adds the calls of a line.
func (p program) add(line string) (err error) {
	defer func() { // must.Get and Recording.MPI panic
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	ranks, call, _ := strings.Cut(line, ":")
	words, times, before := word.FindAllString(call, -1), 1, time.Duration(0)
	if text, ok := strings.CutPrefix(words[0], "+"); ok {
		words, before = words[1:], must.Get(time.ParseDuration(text))
	}
	if n, err := strconv.Atoi(words[0]); err == nil {
		words, times = words[1:], n
	}
	pairs := pairsOf(words[0], words[1:])
	for some := range strings.SplitSeq(ranks, ",") {
		first, last, ok := strings.Cut(some, "-")
		if !ok {
			last = first
		}
		for rank := must.Get(strconv.Atoi(first)); rank <= must.Get(strconv.Atoi(last)); rank++ {
			if r := &p.ranks[rank]; before > 0 {
				p.before[[2]int{rank, int(r.Len())}] = before
			}
			p.ranks[rank].MPI(times, words[0], pairs...)
		}
	}
	return nil
}

// pairsOf returns names of parameters and values, in the order of the function, and then those that are not
// of it.
func pairsOf(name string, words []string) (pairs []any) {
	n, _ := spec.Lookup(name)
	params := []string{trace.ThreadParam}
	for _, p := range spec.Functions()[n].Params {
		params = append(params, p.Name)
	}
	given := maps.Clone(usual)
	for _, word := range words {
		param, value, ok := strings.Cut(word, "=")
		if !ok {
			panic(word + " is no name=value")
		}
		given[param] = value
		if !slices.Contains(params, param) {
			params = append(params, param)
		}
	}
	for _, param := range params {
		if value, ok := given[param]; ok {
			pairs = append(pairs, param, argument(value))
		}
	}
	return pairs
}

// argument returns what a text says.
func argument(text string) any {
	n, err := strconv.Atoi(text)
	switch inner, isList := strings.CutPrefix(text, "["); {
	case isList:
		list := []any{}
		for _, element := range word.FindAllString(strings.TrimSuffix(inner, "]"), -1) {
			list = append(list, argument(element))
		}
		return list
	case strings.HasPrefix(text, "{"):
		var s cst.Status
		if _, err := fmt.Sscanf(text, "{%d %d}", &s.Source, &s.Tag); err != nil {
			panic(err)
		}
		return s
	case err != nil:
		return text
	}
	return n
}
