package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
)

// forgedCommands are all that is asked of a trace that was forged.
var forgedCommands = append(strings.Split(strings.TrimSpace(`
info F --json
cat F
cat F --json
cat F --split OUT
profile F --by rank
profile F --by signature
profile F --by site
messages F --by size
messages F --by communicator
info F --all
at F 1ms
predict F
predict F -o predicted.rpz
proxy F -o OUT
replay F -- a-launcher-that-is-none
view F
extrapolate F F --ranks 64 -o out.rpz
merge F -o out.rpz
verify F ring.txt
codecs F
grammar F --together
export F -o out.parquet
export F -o out.csv
export F -o out.csv --by signature
export F -o out.csv --by message
export F -o out.pftrace
export F -o out.json
export F -o out.prv
export F -o out.ti`), "\n"), blockCommands...)

// TestForgedCommands checks that forgedCommands has each command that takes traces.
func TestForgedCommands(t *testing.T) {
	used := make(map[string]bool)
	for _, command := range forgedCommands {
		used[strings.Fields(command)[0]] = true
	}
	for _, cmd := range newRoot().Commands() {
		takes := regexp.MustCompile(`^\S+ ([A-Z]\.rpz|TRACE|\[REFERENCE|PART|FILE|DAMAGED)`).MatchString(cmd.Use)
		if takes != used[cmd.Name()] {
			t.Errorf("%s: takes traces: %v, is tested: %v", cmd.Use, takes, used[cmd.Name()])
		}
	}
}

// A forgery changes the content of a section.
type forgery struct {
	name  string
	forge func(r *rand.Rand, content []byte) []byte
}

var forgeries = []forgery{
	{"nothing", func(*rand.Rand, []byte) []byte { return nil }},
	{"the first half", func(_ *rand.Rand, c []byte) []byte { return c[:len(c)/2] }},
	{"more behind it", func(_ *rand.Rand, c []byte) []byte { return append(c, 0, 1, 2) }},
	{"the first number huge", func(_ *rand.Rand, c []byte) []byte {
		return append([]byte{0xff, 0xff, 0xff, 0xff, 0x0f}, c[min(1, len(c)):]...)
	}},
	{"a number within huge", func(r *rand.Rand, c []byte) []byte {
		at := r.IntN(len(c) + 1)
		return bytes.Join([][]byte{c[:at], c[min(at+1, len(c)):]},
			[]byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f})
	}},
	{"all bits set", func(_ *rand.Rand, c []byte) []byte { return bytes.Repeat([]byte{0xff}, len(c)) }},
	{"zeros", func(_ *rand.Rand, c []byte) []byte { return make([]byte, len(c)) }},
	{"some bytes", func(r *rand.Rand, c []byte) []byte {
		for range 1 + r.IntN(4) {
			if len(c) > 0 {
				c[r.IntN(len(c))] = byte(r.Uint32())
			}
		}
		return c
	}},
	{"itself twice", func(_ *rand.Rand, c []byte) []byte { return append(c, c...) }},
}

// TestForgedSections forges each section of several traces in every way, with a right checksum, and runs
// commands: in turn, so that each is run on every kind of section and of forgery. They end soon, in little
// memory, and without a panic.
func TestForgedSections(t *testing.T) {
	tier.Long(t, "many commands")
	t.Chdir(t.TempDir())
	writeInputs(t)
	p := programs.Stencil2D(4, 4, 10).Timed()
	run := p.Run()
	run.Origin = format.Origin{Commands: []string{"./stencil"}, Began: time.Unix(1, 0)}
	var stencil bytes.Buffer
	if err := merge.Write(&stencil, run, p.Parts()); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "stencil.rpz", stencil.String())
	r := rand.New(rand.NewPCG(5, 6))
	next := 0
	onMachines(t, "codecs.rpz", "machines.rpz")
	for _, name := range []string{"stencil.rpz", "timed.rpz", "noisy.rpz", "mixed.rpz", "codecs.rpz", "machines.rpz"} {
		data := []byte(readFile(t, name))
		whole, err := trace.Open(name, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer whole.Close()
		for _, s := range whole.Sections() {
			if name == "machines.rpz" && s.Kind != layout.KindClocks {
				continue // they are those of another
			}
			for _, f := range forgeries {
				forged := rewritten(t, data, func(w *format.Writer, section format.Section, content []byte) {
					if section.Kind == s.Kind && section.Key == s.Key {
						content = f.forge(r, content)
					}
					w.Add(section.Kind, section.Key, content)
				})
				writeFile(t, "F", string(forged))
				what := fmt.Sprintf("%s, %s number %d, %s", name, layout.KindName(s.Kind), s.Key, f.name)
				t.Run(what, func(t *testing.T) {
					var commands []string
					for range 2 {
						command := forgedCommands[next%len(forgedCommands)]
						commands = append(commands, strings.ReplaceAll(command, "OUT", fmt.Sprintf("out%d", next)))
						next++
					}
					checkBounded(t, commands, 10*time.Second)
				})
			}
		}
	}
}
