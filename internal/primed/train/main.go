// Command train chooses the prior of package primed: of the sections of traces those that make
// other traces the smallest.
//
//	go run ./internal/primed/train -o prior.bin -check 'held out/*.rpz' traces/*.rpz
//	go run ./internal/primed/train -from prior.bin -kinds 1,3,5 -o prior.bin -size 6400 more/*.rpz
//
// What is chosen later stands before what was chosen, which so remains what the model has read last.
//
// Another prior is another version of the format.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/primed"
	"github.com/reprise-trace/reprise/internal/wire"
)

// most is the largest section that is taken, in bytes.
const most = 1 << 10

// A trace is what is learned from.
type trace struct {
	name     string
	sections []primed.Section
}

func main() {
	out := flag.String("o", "prior.bin", "write the prior to this `file`")
	size := flag.Int("size", 6<<10, "at most so many `bytes`")
	from := flag.String("from", "", "add to the prior in this `file`")
	kinds := flag.String("kinds", "", "take sections of these `numbers` only, as those of names say where a trace was made")
	check := flag.String("check", "", "say how many bytes the traces of this `pattern` take")
	flag.Parse()
	traces := read(flag.Args())
	var prior []byte
	if *from != "" {
		var err error
		if prior, err = os.ReadFile(*from); err != nil {
			log.Fatal(err)
		}
	}
	for {
		best := choose(traces, prior, *size, *kinds)
		if best == nil {
			break
		}
		prior = slices.Concat(best, prior)
		fmt.Println(len(prior), "bytes, all traces take", total(traces, prior))
	}
	if err := os.WriteFile(*out, prior, 0o666); err != nil {
		log.Fatal(err)
	}
	names, err := filepath.Glob(*check)
	if err != nil {
		log.Fatal(err)
	}
	held, of := read(names), primed.Sizer(prior)
	for _, t := range held {
		fmt.Println(of(t.sections), t.name)
	}
	fmt.Println(total(held, prior), "bytes in all")
}

// read returns the traces of files.
func read(names []string) []trace {
	var traces []trace
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			log.Fatal(err)
		}
		stat, err := f.Stat()
		if err != nil {
			log.Fatal(err)
		}
		file, err := format.NewReader(f, stat.Size(), format.Options{})
		if err != nil {
			log.Fatal(name, ": ", err)
		}
		t := trace{name: name}
		for _, s := range file.All() {
			content, err := file.Content(s)
			if err != nil {
				log.Fatal(name, ": ", err)
			}
			t.sections = append(t.sections, primed.Section{Kind: uint32(s.Kind), Key: s.Key, Content: content})
		}
		f.Close()
		traces = append(traces, t)
	}
	return traces
}

// choose returns the sections of a trace, or one of them, that save the most bytes in other
// traces for each of their own, as a prior has them; nil if none fits and saves anything.
func choose(traces []trace, prior []byte, size int, kinds string) (best []byte) {
	before := make([]int, len(traces))
	of := primed.Sizer(prior)
	for i, t := range traces {
		before[i] = of(t.sections)
	}
	var gain float64
	for i, t := range traces {
		var candidates [][]byte
		if kinds == "" {
			candidates = append(candidates, encode(t.sections...))
		}
		for _, s := range t.sections {
			if kinds != "" && !slices.Contains(strings.Split(kinds, ","), fmt.Sprint(s.Kind)) {
				continue
			}
			candidates = append(candidates, encode(s))
		}
		for _, c := range candidates {
			if len(c) == 0 || len(prior)+len(c) > size {
				continue
			}
			saved := 0
			with := primed.Sizer(slices.Concat(c, prior))
			for k, u := range traces {
				if k != i {
					saved += before[k] - with(u.sections)
				}
			}
			if g := float64(saved) / float64(len(c)); g > gain {
				best, gain = c, g
			}
		}
	}
	return best
}

func total(traces []trace, prior []byte) (n int) {
	of := primed.Sizer(prior)
	for _, t := range traces {
		n += of(t.sections)
	}
	return n
}

// encode returns sections as a prior has them. What says who made a trace is replaced.
func encode(sections ...primed.Section) (dst []byte) {
	for _, s := range sections {
		if len(s.Content) > most {
			continue
		}
		if format.Kind(s.Kind) == layout.KindOrigin {
			s.Content = layout.AppendOrigin(nil, &origin, nil)
		}
		dst = wire.AppendUvarint(wire.AppendUvarint(dst, uint64(s.Kind)), s.Key)
		dst = wire.AppendString(dst, string(s.Content))
	}
	return dst
}

// origin is what traces of a cluster have.
var origin = format.Origin{
	Runs:     []string{"0697a1b2c3d4e5f8"},
	Jobs:     []string{"Slurm 1234567"},
	Commands: []string{"mpirun -n 16 ./app"},
	Hosts:    []string{"node01", "node02"},
	Versions: []string{"MPICH 4.0.2", "reprise (devel)"},
	World:    16,
	Began:    time.Unix(0, 1764230400123456789).UTC(),
}
