//go:build linux

package slicing

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/tier"
)

// Mutations leave out one dependence each of a slice. A match is where one is, and the text that replaces it.
var mutations = []struct {
	name    string
	line    *regexp.Regexp
	replace string
}{
	{"Register", regexp.MustCompile(
		`^(  %\S+ = (?:add|sub|mul|xor|urem|and|zext|trunc|getelementptr|icmp) .*)%[\w.]+((?: to i\d+)?(?:, [\w-]+)?(?:, !dbg !\d+)?)$`), "${1}zeroinitializer$2"},
	{"Control", regexp.MustCompile(`^  br i1 %[^,]+(,.*)$`), "  br i1 false$1"},
	{"Memory", regexp.MustCompile(`^  store (?:i\d+|ptr|double) .*$`), ""},
	{"Messages", regexp.MustCompile(`^(@reprise_slice_executed = .*?) [A-Z]\w{2}(\w* .*)$`), "$1 xxx$2"},
	{"Order", regexp.MustCompile(`^(@reprise_slice_executed = .*) messages open (.*)$`), "$1 xxxxxxxx xxxx $2"},
	{"Argument", regexp.MustCompile(`^(.* = call i32 @(?:[fg]\d|deep|verdict|total)\(.*?i32) %[\w.]+(.*)$`), "$1 0$2"},
}

// TestMutation checks that the comparison of the calls of random programs and their slices sees that a slice
// lacks a dependence, of each kind. Not all that is left out can be seen: what is kept need not matter. A run
// that hangs does not count.
func TestMutation(t *testing.T) {
	b := newBench(t)
	mutations, seen := tier.Some(mutations, 2), map[string]bool{}
	for _, number := range []uint64{17, 1, 2, 14, 4, 5, 6} { // 17 receives from any source
		if len(seen) == len(mutations) {
			break
		}
		source := filepath.Join(b.directory, fmt.Sprint("mutation", number, ".c"))
		if err := os.WriteFile(source, []byte(generate(number)), 0o600); err != nil {
			t.Fatal(err)
		}
		ranks := 2 + int(number%3)
		whole, sliced, _, err := b.compare(t, source, ranks, nil)
		if err != nil || whole != sliced {
			t.Fatalf("program %d: %v: %s", number, err, difference(whole, sliced))
		}
		build := b.builder(t, source)
		text, err := os.ReadFile(build.file("slice.ll"))
		if err != nil {
			t.Fatal(err)
		}
		b.limit = 20 * time.Second
		r := rand.New(rand.NewPCG(number, 2))
		for _, m := range mutations {
			for try := 0; !seen[m.name] && try < 3; try++ {
				mutant, line := mutate(r, string(text), m.line, m.replace)
				if line == "" {
					break
				}
				if err := os.WriteFile(build.file("slice.ll"), []byte(mutant), 0o600); err != nil {
					t.Fatal(err)
				}
				calls, err := b.run(t, build, ranks)
				hangs := err != nil && strings.Contains(err.Error(), "signal: killed")
				seen[m.name] = !hangs && calls != whole
				t.Logf("program %d, %s, %v: seen %v, hangs %v", number, m.name, line, seen[m.name], hangs)
				if !seen[m.name] {
					delete(seen, m.name)
				}
			}
		}
		b.limit = 2 * time.Minute
	}
	for _, m := range mutations {
		if !seen[m.name] {
			t.Errorf("%s: slices that lack a dependence make the same calls", m.name)
		}
	}
}

// mutate replaces a line of a module that matches, and returns it, or nothing if there is none.
func mutate(r *rand.Rand, text string, match *regexp.Regexp, replace string) (mutant, line string) {
	lines := strings.Split(text, "\n")
	var at []int
	for k, l := range lines {
		if match.MatchString(l) {
			at = append(at, k)
		}
	}
	if at == nil {
		return text, ""
	}
	k := at[r.IntN(len(at))]
	lines = slices.Clone(lines)
	line = lines[k]
	lines[k] = match.ReplaceAllString(line, replace)
	return strings.Join(lines, "\n"), line
}
