package merging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
)

// checkParts returns an error that says all that is wrong with the parts at paths, as far as their ranks, the
// runs they are of and the checksums of part files tell: files that cannot be read, parts of several runs or
// else ranks that are in two of them, and ranks that a run of size ranks does not have, unless size is 0.
func checkParts(ctx context.Context, paths []string, size int, progress func(done int)) error {
	unreadable, contradictions, err := lookAtParts(ctx, paths, size, progress)
	if err != nil {
		return err
	}
	if len(unreadable)+len(contradictions) > 0 {
		known := make(map[string]bool)
		for _, err := range unreadable {
			if p := (*leafProblem)(nil); errors.As(err, &p) {
				for _, path := range p.paths {
					known[path] = true
				}
			}
		}
		// Of the others, only the heads were looked at.
		others := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return known[path] })
		var deeper Problems
		if err := unreadableParts(ctx, others); errors.As(err, &deeper) {
			unreadable = append(unreadable, deeper...)
		} else if err != nil {
			unreadable = append(unreadable, err)
		}
	}
	return Problems(append(unreadable, contradictions...)).err()
}

// lookAtParts returns what checkParts does, apart what is wrong with single files.
func lookAtParts(ctx context.Context, paths []string, size int, progress func(done int)) (unreadable,
	contradictions []error, err error) {
	var wrong leafProblems
	var shared layout.SharedRanks
	origins := make([]format.Origin, len(paths))
	world := 0 // ranks of the run
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		wrong.add(openPart(ctx, path, func(file *format.Reader) error {
			n, ranks, err := ranksOf(file)
			if err != nil {
				return err
			}
			shared.Add(ranks)
			if size > 0 && n > size {
				return fmt.Errorf("is of a run of at least %s, not %s", text.Plural(n, "rank"), text.Count(size))
			}
			origins[i], err = layout.ReadOrigin(file)
			world = max(world, n, origins[i].World)
			return err
		}))
		progress(i + 1)
	}
	if runs := layout.SplitRuns(origins); len(runs) > 1 {
		contradictions = append(contradictions, mixed(runs, origins, paths))
		for _, run := range runs {
			list, err := sharedBy(ctx, pathsOf(run, paths))
			if err != nil {
				return nil, nil, err
			}
			contradictions = append(contradictions, list...)
		}
		return wrong.list, contradictions, nil
	}
	if contradictions, err = twice(ctx, paths, shared.Ranks()); err != nil {
		return nil, nil, err
	}
	if absent := rankenc.World(world).Difference(shared.All()); absent.Len() > 0 &&
		len(wrong.list)+len(contradictions) > 0 {
		contradictions = append(contradictions, fmt.Errorf("in no part that can be read: %s", text.Ranks(absent)))
	}
	return wrong.list, contradictions, nil
}

// sharedBy returns an error for every file of a run that has ranks in common with others of it.
func sharedBy(ctx context.Context, paths []string) ([]error, error) {
	var shared layout.SharedRanks
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		_ = openPart(ctx, path, func(file *format.Reader) error { // its errors were seen before
			_, ranks, err := ranksOf(file)
			shared.Add(ranks)
			return err
		})
	}
	return twice(ctx, paths, shared.Ranks())
}

// firstRuns returns the first 262,144 runs of consecutive ranks of a set: nobody reads a list of more.
func firstRuns(ranks rankenc.Set) rankenc.Set {
	const most = 1 << 18
	var first rankenc.SetBuilder
	n := 0
	for lo, hi := range ranks.Ranges() {
		if n++; n > most {
			break
		}
		first.AddRange(lo, hi)
	}
	return first.Finish()
}

// stretchesOf returns where some ranks are in files.
func stretchesOf(ctx context.Context, paths []string, among rankenc.Set) (stretches []stretch, err error) {
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		_ = openPart(ctx, path, func(file *format.Reader) error { // its errors were seen before
			_, ranks, err := ranksOf(file)
			for first, last := range ranks.Intersection(among).Ranges() {
				stretches = append(stretches, stretch{first, last, i})
			}
			return err
		})
	}
	return stretches, nil
}

// mixed returns the error of files that are of several runs. It names all of them, but not those of a run
// that has more files than each of the others.
func mixed(runs [][]int, origins []format.Origin, paths []string) error {
	sizes := make([]int, len(runs))
	for i, run := range runs {
		sizes[i] = len(run)
	}
	slices.Sort(sizes)
	largest, second := sizes[len(sizes)-1], sizes[len(sizes)-2]
	var list []string
	for _, run := range runs[:min(len(runs), MostNamed)] {
		var o format.Origin
		for _, i := range run {
			layout.MergeOrigin(&o, origins[i])
		}
		files := cli.ListOf(pathsOf(run, paths), MostNamed)
		if len(run) == largest && largest > second {
			files = "the other " + text.Plural(len(run), "file")
		}
		list = append(list, fmt.Sprintf("%s in %s", runName(o), files))
	}
	if n := len(runs) - MostNamed; n > 0 {
		list = append(list, text.Count(n)+" more")
	}
	return fmt.Errorf("the files are of %d runs: merge those of one at a time: %s", len(runs), strings.Join(list, "; "))
}

// pathsOf returns the paths of files.
func pathsOf(files []int, paths []string) []string {
	list := make([]string, len(files))
	for k, i := range files {
		list[k] = paths[i]
	}
	return list
}

// runName returns what a run is called: its ids, or its size, and its job and when it began as far as that is
// known.
func runName(o format.Origin) string {
	name := "that of " + text.Plural(o.World, "rank")
	if len(o.Runs) > 0 {
		name = cli.FirstOf(o.Runs)
	}
	about := o.Jobs
	if !o.Began.IsZero() {
		about = append(slices.Clone(about), "began "+o.Began.Format(time.RFC3339))
	}
	if len(about) > 0 {
		name += " (" + strings.Join(about, ", ") + ")"
	}
	return name
}

// ranksOf returns the number of ranks of the run that a part file or a trace is
// of, as far as it says that, and those that made calls.
func ranksOf(file *format.Reader) (size int, ranks rankenc.Set, err error) {
	if merge.IsPart(file) {
		return merge.ReadPartRanks(file)
	}
	trace, err := openWhole(file)
	if err != nil {
		return 0, rankenc.Set{}, err
	}
	return trace.Run().Ranks, trace.RankSet(), nil
}

// A stretch is consecutive ranks of one file.
type stretch struct{ first, last, file int }

// An overlap is the ranks that two files have in common.
type overlap struct {
	a, b  int // files
	ranks rankenc.SetBuilder
}

// overlaps returns those of any two files. Of three with the same ranks, it has two
// pairs.
func overlaps(stretches []stretch) []*overlap {
	slices.SortFunc(stretches, func(a, b stretch) int { return cmp.Or(a.first-b.first, a.file-b.file) })
	type pair struct{ a, b int }
	found := make(map[pair]*overlap)
	var list []*overlap
	for i := 1; i < len(stretches); i++ {
		a, b := stretches[i-1], &stretches[i]
		if b.first > a.last {
			continue
		}
		p := pair{min(a.file, b.file), max(a.file, b.file)}
		if found[p] == nil {
			found[p] = &overlap{a: p.a, b: p.b}
			list = append(list, found[p])
		}
		found[p].ranks.AddRange(b.first, min(a.last, b.last))
		if a.last > b.last { // goes on behind b
			b.last, b.file = a.last, a.file
		}
	}
	return list
}

// twice returns an error for every file that has some of the ranks in common with others: of
// two, for the one of which that is true of more files.
func twice(ctx context.Context, paths []string, among rankenc.Set) ([]error, error) {
	if among.Len() == 0 {
		return nil, nil
	}
	stretches, err := stretchesOf(ctx, paths, firstRuns(among))
	if err != nil {
		return nil, err
	}
	list := overlaps(stretches)
	times := make(map[int]int)
	for _, o := range list {
		times[o.a]++
		times[o.b]++
	}
	type shared struct {
		ranks  rankenc.Set
		others []string
	}
	all := make(map[int]*shared)
	var files []int
	for _, o := range list {
		file, other := o.a, o.b
		if times[other] > times[file] {
			file, other = other, file
		}
		s := all[file]
		if s == nil {
			s = new(shared)
			all[file], files = s, append(files, file)
		}
		s.ranks = s.ranks.Union(o.ranks.Finish())
		s.others = append(s.others, paths[other])
	}
	var wrong []error
	for _, file := range files {
		s := all[file]
		verb := "are"
		if s.ranks.Len() == 1 {
			verb = "is"
		}
		wrong = append(wrong, fmt.Errorf("%s %s in %s and in %s", text.Ranks(s.ranks), verb, paths[file],
			cli.ListOf(s.others, MostNamed)))
	}
	return wrong, nil
}

// LeafProblems are the errors of parts, those with one cause together.
type leafProblems struct {
	list    []error // *leafProblem
	byCause map[string]*leafProblem
}

// A leafProblem is an error that parts have in common.
type leafProblem struct {
	paths []string
	first leafError
}

func (p *leafProblem) Error() string {
	if len(p.paths) == 1 {
		return p.first.Error()
	}
	return cli.ListOf(p.paths, MostNamed) + ": " + p.first.cause()
}

func (p *leafProblem) Unwrap() error { return p.first }

// add adds an error, unless it is nil.
func (l *leafProblems) add(err error) {
	var leaf leafError
	if !errors.As(err, &leaf) {
		return
	}
	p := l.byCause[leaf.cause()]
	if p == nil {
		if l.byCause == nil {
			l.byCause = make(map[string]*leafProblem)
		}
		p = &leafProblem{first: leaf}
		l.byCause[leaf.cause()] = p
		l.list = append(l.list, p)
	}
	p.paths = append(p.paths, leaf.path)
}

// MostNamed is how many problems are listed, and how many files are named in one.
const MostNamed = 1000

// Problems are an error that says several things.
type Problems []error

// err returns p, the only error in it, or nil.
func (p Problems) err() error {
	switch len(p) {
	case 0:
		return nil
	case 1:
		return p[0]
	}
	return p
}

func (p Problems) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", text.Plural(len(p), "problem"))
	for i, err := range p {
		if i == MostNamed {
			fmt.Fprintf(&b, "\nand %s more", text.Count(len(p)-MostNamed))
			break
		}
		fmt.Fprintf(&b, "\n%v%s", err, cli.Hint("merge", err))
	}
	return b.String()
}
