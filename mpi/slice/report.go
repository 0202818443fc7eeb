package slice

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// A Count is how much of a file of the sources is needed, in instructions.
type Count struct {
	File string `json:"file"`
	Kept int    `json:"kept_instructions"`
	All  int    `json:"instructions"`
}

// Counts returns what is needed by file, in the order of their names. Instructions of which the line is not
// known count for the file of their function.
func (s *Slice) Counts() []Count {
	var counts []Count
	for _, f := range s.m.defined() {
		file := s.fileOf(f)
		for _, b := range f.blocks {
			for _, i := range b.instructions {
				at := cmp.Or(i.at().File, file)
				k, found := slices.BinarySearchFunc(counts, at, func(c Count, file string) int {
					return cmp.Compare(c.File, file)
				})
				if !found {
					counts = slices.Insert(counts, k, Count{File: at})
				}
				counts[k].All++
				if i.kept {
					counts[k].Kept++
				}
			}
		}
	}
	return counts
}

// fileOf returns the file of a function: that of the first instruction that has one.
func (s *Slice) fileOf(f *function) string {
	for _, b := range f.blocks {
		for _, i := range b.instructions {
			if file := i.at().File; file != "" {
				return file
			}
		}
	}
	return s.m.fileOf(s.m.metadata[f.scope])
}

// A Call is a call of MPI in the program.
type Call struct {
	Position
	Function string `json:"function"`
	Executed bool   `json:"executed"` // by MPI, and not only recorded
}

// Calls returns the calls of MPI, in the order of the module.
func (s *Slice) Calls() []Call {
	var calls []Call
	for _, i := range s.calls {
		for p := range s.memory.places(s.memory.pointsOf(i.block.of, i.callee)) {
			if e, err := effectOfName(p.object.name, i); err == nil && e.mpi != nil {
				calls = append(calls, Call{i.at(), e.name, e.group == "" || s.executed[e.group]})
			}
		}
	}
	return calls
}

// An Opening is a call for which all operations are executed, and why.
type Opening struct {
	Position
	Function string `json:"function"`
	Why      string `json:"why"`
}

// Open returns a call for which all operations are executed, and whether there is one.
func (s *Slice) Open() (Opening, bool) {
	if s.open == nil {
		return Opening{}, false
	}
	return Opening{s.open.at(), strings.TrimPrefix(cmp.Or(s.open.callee.global, s.open.callee.local), "@"),
		s.openFor}, true
}

// A Step is one of the reasons why a line is kept.
type Step struct {
	Position
	Function string `json:"in_function"` // as the compiler names it
	// what the line does for the one of the step behind; of the last step, why it is kept in any case
	How string `json:"how"`
}

// Explain returns why a line of the sources is kept: a chain of dependences from it to a line that is kept in
// any case. It returns nil if nothing of the line is kept. A file may be named by the end of its path.
func (s *Slice) Explain(at Position) []Step {
	var shortest []Step
	for _, f := range s.memory.reached {
		for _, b := range f.blocks {
			for _, i := range b.instructions {
				if i.kept && i.at().Line == at.Line && sameFile(i.at().File, at.File) {
					if chain := explain(i); shortest == nil || len(chain) < len(shortest) {
						shortest = chain
					}
				}
			}
		}
	}
	return shortest
}

// Has reports whether the program has instructions of a line of the sources, or of line 0 of the file, of
// any. Declarations and comments have none.
func (s *Slice) Has(at Position) bool {
	for _, f := range s.m.defined() {
		for _, b := range f.blocks {
			for _, i := range b.instructions {
				if p := i.at(); (p.Line == at.Line || at.Line == 0) && sameFile(p.File, at.File) {
					return true
				}
			}
		}
	}
	return false
}

// sameFile reports whether a path ends with another one.
func sameFile(path, end string) bool {
	path, end = filepath.Clean(path), filepath.Clean(end)
	return path == end || len(path) > len(end) && path[len(path)-len(end)-1] == filepath.Separator &&
		path[len(path)-len(end):] == end
}

func explain(i *instruction) []Step {
	var chain []Step
	for i != nil {
		step := Step{i.at(), strings.TrimPrefix(i.block.of.name, "@"), i.why.how}
		if n := len(chain); n == 0 || i.why.by == nil || step.Line > 0 && step.Position != chain[n-1].Position {
			chain = append(chain, step) // line 0 is what optimizers make of several lines
		}
		i = i.why.by
	}
	return chain
}
