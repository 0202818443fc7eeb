// Package textcases runs tests whose inputs and outputs are text, from a file of cases:
//
//	# What the case is about.
//	Name key=value other=value
//	lines of input
//	----
//	lines of output
//
// A case ends at a blank line; if its output has blank lines, two lines ---- stand before and after it. Lines
// that begin with # are comments, but not in an output. With the flag -rewrite, nothing is compared, and the
// file gets the outputs that there are.
package textcases

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the outputs of text cases into their files")

// A Case is one of a file.
type Case struct {
	Name  string
	Input string // lines, each with its end
	At    string // file:line of the name

	head, want string // what the file has before the output, and the output
	args       map[string]string
	asked      map[string]bool // keys of which a test wants to know the value
}

// Arg returns the argument with a key, or nothing if there is none.
func (c Case) Arg(key string) string {
	c.asked[key] = true
	return c.args[key]
}

// unknown returns the keys of arguments that nobody asked for.
func (c Case) unknown() (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(c.args)) {
		if !c.asked[key] {
			keys = append(keys, key)
		}
	}
	return keys
}

// Int returns an argument that is a number, or other if there is none.
func (c Case) Int(t testing.TB, key string, other int) int {
	t.Helper()
	arg := c.Arg(key)
	if arg == "" {
		return other
	}
	n, err := strconv.Atoi(arg)
	if err != nil {
		t.Fatalf("%s: %s: %v", c.At, key, err)
	}
	return n
}

// Run runs a subtest for each case of the file at path. It fails if output does not return what the file has,
// or does not ask for an argument that a case has.
func Run(t *testing.T, path string, output func(t *testing.T, c Case) string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cases, err := parse(path, string(data))
	if err != nil || len(cases) == 0 {
		t.Fatalf("%s: %d cases, %v", path, len(cases), err)
	}
	var file strings.Builder
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			got := output(t, c)
			if keys := c.unknown(); keys != nil {
				t.Fatalf("%s: nobody asks for %s", c.At, strings.Join(keys, ", "))
			}
			if got != "" && !strings.HasSuffix(got, "\n") {
				got += "\n"
			}
			if !*rewrite && got != c.want {
				t.Errorf("%s: the output is\n%swant\n%s", c.At, got, c.want)
			}
			c.want = got
		})
		mark := "----\n"
		if strings.HasPrefix(c.want, "\n") || strings.Contains(c.want, "\n\n") {
			mark, c.want = "----\n----\n", c.want+"----\n----\n"
		}
		file.WriteString(c.head + mark + c.want)
	}
	if *rewrite && file.String() != string(data) {
		if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// parse returns the cases of the text of a file.
func parse(path, text string) (cases []Case, err error) {
	names := make(map[string]bool)
	var c Case
	for n := 1; text != ""; n++ {
		line, rest, _ := strings.Cut(text, "\n")
		at, words := fmt.Sprintf("%s:%d", path, n), strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "#"), len(words) == 0 && c.Name == "":
		case len(words) == 0:
			return nil, fmt.Errorf("%s: case %s ends without ----", at, c.Name)
		case c.Name == "" && (line == "----" || names[words[0]]):
			return nil, fmt.Errorf("%s: %s is no new name", at, words[0])
		case c.Name == "":
			names[words[0]] = true
			c.Name, c.At, c.args, c.asked = words[0], at, make(map[string]string), make(map[string]bool)
			for _, word := range words[1:] {
				key, value, _ := strings.Cut(word, "=")
				c.args[key] = value
			}
		case line != "----":
			c.Input += line + "\n"
		default:
			after, found := strings.CutPrefix(rest, "----\n")
			if found {
				if c.want, text, found = strings.Cut(after, "----\n----\n"); !found {
					return nil, fmt.Errorf("%s: the output has no end", at)
				}
				n += 3
			} else {
				c.want, _, _ = strings.Cut("\n"+rest, "\n\n")
				c.want = strings.TrimPrefix(strings.TrimSuffix(c.want, "\n")+"\n", "\n")
				text = rest[len(c.want):]
			}
			n += strings.Count(c.want, "\n")
			cases, c = append(cases, c), Case{}
			continue
		}
		c.head += line + "\n"
		text = rest
	}
	if strings.TrimSpace(c.head) != "" {
		return nil, fmt.Errorf("%s: the last lines are no case: %q", path, c.head)
	}
	return cases, nil
}
