package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
)

// checkParts returns an error that says all that is wrong with the parts at paths,
// as far as their ranks and the checksums of part files tell: files that cannot be
// read, ranks that are in two of them, and ranks that a run of size ranks does not
// have, unless size is 0.
func checkParts(ctx context.Context, paths []string, size int, progress func(done int)) error {
	var wrong problems
	var stretches []stretch
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := openPart(path, func(file *format.Reader) error {
			n, ranks, err := ranksOf(file)
			if err != nil {
				return err
			}
			for first, last := range ranks.Ranges() {
				stretches = append(stretches, stretch{first, last, i})
			}
			if size > 0 && n > size {
				return fmt.Errorf("is of a run of at least %s, not %s", plural(uint64(n), "rank"), comma(uint64(size)))
			}
			return nil
		})
		if err != nil {
			wrong = append(wrong, err)
		}
		progress(i + 1)
	}
	return append(wrong, twice(stretches, paths)...).err()
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

// twice returns an error for every two files that have ranks in common. Of three,
// it names two pairs.
func twice(stretches []stretch, paths []string) []error {
	slices.SortFunc(stretches, func(a, b stretch) int { return cmp.Or(a.first-b.first, a.file-b.file) })
	type pair struct{ a, b int }
	common := make(map[pair]*rankenc.SetBuilder)
	var pairs []pair
	for i := 1; i < len(stretches); i++ {
		a, b := stretches[i-1], &stretches[i]
		if b.first > a.last {
			continue
		}
		p := pair{min(a.file, b.file), max(a.file, b.file)}
		if common[p] == nil {
			common[p] = new(rankenc.SetBuilder)
			pairs = append(pairs, p)
		}
		common[p].AddRange(b.first, min(a.last, b.last))
		if a.last > b.last { // goes on behind b
			b.last, b.file = a.last, a.file
		}
	}
	var list []error
	for _, p := range pairs {
		ranks, err := common[p].Finish()
		if err != nil {
			panic(err) // ranks ascend
		}
		verb := "are"
		if ranks.Len() == 1 {
			verb = "is"
		}
		list = append(list, fmt.Errorf("%s %s in %s and in %s", setText(ranks), verb, paths[p.a], paths[p.b]))
	}
	return list
}

// Problems are an error that says several things.
type problems []error

// err returns p, the only error in it, or nil.
func (p problems) err() error {
	switch len(p) {
	case 0:
		return nil
	case 1:
		return p[0]
	}
	return p
}

func (p problems) Error() string {
	const most = 20
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", plural(uint64(len(p)), "problem"))
	for i, err := range p {
		if i == most {
			fmt.Fprintf(&b, "\n  and %s more", comma(uint64(len(p)-most)))
			break
		}
		fmt.Fprintf(&b, "\n  %v%s", err, hint("merge", err))
	}
	return b.String()
}
