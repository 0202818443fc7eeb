package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/text"
)

// A result is what a run of the command did.
type result struct {
	status         int
	stdout, stderr string
}

// An endless is an output whose lines have no end, so that tests find whole texts in it.
type endless struct{ bytes.Buffer }

func (e *endless) Columns() int { return 0 }

func (e *endless) Character(s string) (bytes, columns int) { return (*cli.Output)(nil).Character(s) }

func (e *endless) Style(s string, _ text.Style) string { return s }

// invoke runs the command in the current directory.
func invoke(t testing.TB, stdin string, args ...string) result {
	t.Helper()
	var stdout endless
	var stderr bytes.Buffer
	status := run(t.Context(), args, strings.NewReader(stdin), &stdout, &stderr)
	return result{status, stdout.String(), stderr.String()}
}

// invokeIn runs the command as if its output had so many columns.
func invokeIn(t testing.TB, columns int, args ...string) result {
	t.Helper()
	t.Setenv("COLUMNS", strconv.Itoa(columns))
	var stdout, stderr bytes.Buffer
	status := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
	return result{status, stdout.String(), stderr.String()}
}

// must runs the command, which must succeed and say nothing on standard error,
// and returns its standard output.
func must(t testing.TB, args ...string) string {
	t.Helper()
	r := invoke(t, "", args...)
	if r.status != cli.ExitOK || r.stderr != "" {
		t.Fatalf("reprise %s: status %d: %s", strings.Join(args, " "), r.status, r.stderr)
	}
	return r.stdout
}

// writeFile writes a file in the current directory.
func writeFile(t testing.TB, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fileNames returns the names in the current directory, hidden ones too.
func fileNames(t testing.TB) string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "in.txt", "0 init\n0 finalize\n")
	must(t, "compress", "in.txt", "-o", "in.rpz")
	for _, tt := range []struct {
		args string
		want string // of standard error, the first line
	}{
		{"nothing", `there is no command "nothing"`},
		{"man", "man takes one directory, not 0 arguments"},
		{"completion tcsh", "completion takes a shell: bash, zsh, fish, powershell"},
		{"completion", "completion takes a shell: bash, zsh, fish, powershell"},
		{"help nothing", `there is no command "nothing"`},
		{"compres in.txt -o out.rpz", `there is no command "compres": did you mean compress?`},
		{"help at diff", "help takes one command: reprise help at"},
		{"help vrify", `there is no command "vrify": did you mean verify?`},
		{"cut in.rpz --json", `there is no command "cut": did you mean cat?`},
		{"--nothing", "unknown flag: --nothing"},
		{"demo in.txt", `demo does not take "in.txt"`},
		{"compress", "compress takes the files of a trace"},
		{"compress in.txt", "compress needs -o OUT.rpz"},
		{"compress in.txt -o", "flag needs an argument: 'o' in -o"},
		{"compress in.txt -o in.txt", "in.txt is an input: the output would replace it"},
		{"compress in.txt -o ./in.txt", "./in.txt is an input: the output would replace it"},
		{"compress in.txt -o out.rpz --size 0", "--size is from 1 to 16,777,216, not 0"},
		{"merge in.rpz -o out.rpz --size 16777217", "--size is from 1 to 16,777,216, not 16777217"},
		{"merge", "merge takes part files"},
		{"merge in.rpz", "merge needs -o OUT.rpz"},
		{"merge in.rpz -o in.rpz", "in.rpz is an input: the output would replace it"},
		{"merge . -o in.rpz",
			"in.rpz is in ., of which all *.rpz files are merged: the output needs another directory"},
		{"merge in.rpz . --part -o ./out.part.rpz",
			"./out.part.rpz is in ., of which all *.rpz files are merged: the output needs another directory"},
		{"merge - -o out.rpz", "a trace is read in any order: it cannot come from standard input"},
		{"cat", "cat takes one trace, not 0 arguments"},
		{"cat in.rpz in.rpz", "cat takes one trace, not 2 arguments"},
		{"cat -", "a trace is read in any order: it cannot come from standard input"},
		{"cat in.rpz --ranks=-1", `--ranks: "-1": "-1" is no rank`},
		{"report a.rpz b.rpz c.rpz -o r.html", "report takes a trace, or two that it compares, not 3 arguments"},
		{"at in.rpz", "at takes one trace and a time, not 1 argument"},
		{"cat in.rpz --absolute", "--absolute does not go with --format ti, where ranks are numbers"},
		{"cat in.rpz --clock", "--clock does not go with --format ti, which has no times"},
		{"cat in.rpz --json --absolute", "--absolute does not go with --format json, where ranks are numbers"},
		{"cat in.rpz --split . --clock", "--split writes SimGrid's files: it does not go with --absolute and --clock"},
		{"matrix in.rpz -o m.csv --scale linear", "--scale does not go with --format csv, which is not a picture"},
		{"matrix in.rpz -o m.csv --bins 7", "--bins does not go with --format csv, which is not a picture"},
		{"record -o out.rpz --parts parts -- true", "the output is -o OUT.rpz or --parts DIR, not both"},
		{"record -- true", "the output is -o OUT.rpz, or --parts DIR: reprise record -o run.rpz -- mpirun -n 4 ./app"},
		{"record -n 4 ./app",
			"unknown shorthand flag: 'n' in -n; a launcher and its flags come after those of record: reprise record -o run.rpz -- mpirun -n 4 ./app"},
		{"collect raw", "the output is -o OUT.rpz, or --parts DIR"},
		{"cat in.rpz --ranks=", `--ranks: "": names no rank`},
		{"cat in.rpz --ranks x", `--ranks: "x": "x" is no rank`},
		{"cat in.rpz --first=-1", `invalid argument "-1" for "--first" flag: "-1" is not a number`},
		{"cat in.rpz --from=-1", `invalid argument "-1" for "--from" flag: is before the first call`},
		{"cat in.rpz --from 2s --to 1s", "--to 1s is before --from 2s"},
		{"cat in.rpz --format xml", `invalid argument "xml" for "--format" flag: must be ti, text or json`},
		{"cat missing.rpz --format xml", `invalid argument "xml" for "--format" flag: must be ti, text or json`},
		{"cat in.rpz --json --format ti", "--json does not go with --format ti"},
		{"cat in.rpz --split . --ranks 0", "--split writes all ranks: it does not go with --ranks"},
		{"cat in.rpz --split . --json", "--split writes SimGrid's files: the only format is ti"},
		{"cat in.rpz --split . --from 1",
			"--split writes all calls: it does not go with --first, --count, --from, --to, --phase and --loop"},
		{"cat in.rpz --split . --count 1",
			"--split writes all calls: it does not go with --first, --count, --from, --to, --phase and --loop"},
		{"info", "info takes one trace, not 0 arguments"},
		{"record -o out.rpz --error 0.01 -- true",
			"--times statistics keeps no times of every call: --error and intervals do not go with it"},
		{"record -o out.rpz --times exact --error 0.1 -- true",
			"--times exact is exact: --error does not go with it, but for functions"},
		{"record -o out.rpz --times all --error 5 -- true", "--error is from 0.0001 to 0.5, not 5"},
		{"collect raw -o out.rpz --error 0.2",
			"--times statistics keeps no times of every call: --error and intervals do not go with it"},
		{"collect raw -o out.rpz --times intervals",
			"--times intervals keeps no times of every call: --error and intervals do not go with it"},
		{"collect raw -o out.rpz --times fast",
			`--times is none, statistics, histograms, paths, all, exact or a codec, not "fast"`},
		{"collect raw -o out.rpz --times none,all",
			`--times is none, statistics, histograms, paths, all, exact or a codec, not "none,all"`},
		{"collect raw -o out.rpz --times zstd,lz4", "--times zstd,lz4 has two codecs"},
		{"collect raw -o out.rpz --times all --error =1%", "--error =1% names no function"},
		{"collect raw -o out.rpz --times all --error MPI_Wait=60%", "--error is from 0.0001 to 0.5, not 60%"},
		{"collect raw -o out.rpz --times all --error 0", "--error 0 is --times exact"},
		{"record -o out.rpz --on-timeout kill -- true", "--on-timeout needs --timeout, such as --timeout 60s"},
		{"record --parts parts --timeout 60s -- true",
			"--timeout does not go with --parts: one process cannot tell whether the run hangs"},
		{"record -o out.rpz --sites line -- true",
			`invalid argument "line" for "--sites" flag: must be caller, stack or none`},
		{"grammar in.rpz --shape=-7", "no shape -7"},
		{"grammar in.rpz --ranks 0 --shape 0", "--ranks does not go with --shape"},
		{"profile in.rpz --by weight",
			`invalid argument "weight" for "--by" flag: must be function, signature, site, rank or region`},
		{"grammar in.rpz --dot --json", "--dot does not go with --json"},
		{"verify in.rpz", "verify takes a trace and the files it was made from"},
		{"verify - in.txt", "a trace is read in any order: it cannot come from standard input"},
		{"repair in.rpz", "repair needs -o OUT.rpz"},
		{"repair - -o out.rpz", "a trace is read in any order: it cannot come from standard input"},
		{"repair in.rpz -o in.rpz", "in.rpz is an input: the output would replace it"},
	} {
		r := invoke(t, "", strings.Fields(tt.args)...)
		if line, _, _ := strings.Cut(r.stderr, "\n"); r.status != cli.ExitUsage ||
			line != "reprise: "+tt.want || r.stdout != "" {
			t.Errorf("reprise %s: status %d, %q, want %d, %q", tt.args, r.status, line, cli.ExitUsage, tt.want)
		}
	}
	if names := fileNames(t); names != "in.rpz in.txt" {
		t.Errorf("the directory has %s", names)
	}
}

func TestFailures(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	if err := os.Mkdir("dir", 0o777); err != nil {
		t.Fatal(err)
	}
	before := fileNames(t)
	for _, tt := range []struct {
		args string
		want string // of standard error, which is one line, * being anything
	}{
		{"compress missing.txt -o out.rpz", "missing.txt: no such file or directory"},
		{"compress dir -o out.rpz", "dir: no files named …_rank-1.txt and so on"},
		{"compress binary.txt -o out.rpz", "binary.txt:2:3: corrupt input: control byte 0x00"},
		{"compress cut.gz -o out.rpz", "cut.gz: unexpected EOF"},
		{"compress ring.txt -o missing/out.rpz", "missing/out.rpz: no such file or directory"},
		{"compress ring.txt -o ring.txt/out.rpz", "ring.txt/out.rpz: not a directory"},
		{"compress ring.txt -o dir", "dir: is a directory"},
		{"cat missing.rpz", "missing.rpz: no such file or directory"},
		{"cat dir", "dir: this is a directory; reprise reads its own traces, *"},
		{"compress empty.txt -o out.rpz", "empty.txt: there is no line to compress"},
		{"compress - -o out.rpz", "standard input: there is no line to compress"},
		{"compress empty.txt -o -", "empty.txt: there is no line to compress"},
		{"compress empty.txt -o ring.rpz", "empty.txt: there is no line to compress"},
		{"compress ring.txt list.txt -o out.rpz", "list.txt: is a list of files; give it alone"},
		{"compress ring.txt ./ring.txt -o out.rpz", "./ring.txt: is given twice, the first time as ring.txt"},
		{"compress ring.rpz -o out.rpz",
			"ring.rpz: is a trace already: reprise info ring.rpz describes it, reprise cat ring.rpz writes its text"},
		{"compress ring.xz -o out.rpz",
			"ring.xz: compressed by xz: decompress it first, for instance xz -dc ring.xz | reprise compress - -o OUT.rpz"},
		{"verify ring.rpz missing.txt", "missing.txt: no such file or directory"},
		{"verify ring.rpz mixed.rpz",
			"mixed.rpz: is a trace already: two traces are compared by diff, as in reprise diff TRACE.rpz mixed.rpz"},
		{"verify ring.rpz ring.bz2",
			"ring.bz2: compressed by bzip2: decompress it first, for instance bzip2 -dc ring.bz2 | reprise verify TRACE.rpz -"},
		{"cat ring.txt",
			"ring.txt: this is SimGrid's text of a trace; reprise compress ring.txt -o OUT.rpz makes a trace of it"},
		{"info ring.txt.gz",
			"ring.txt.gz: this is SimGrid's text of a trace; reprise compress ring.txt.gz -o OUT.rpz makes a trace of it"},
		{"grammar ring.txt",
			"ring.txt: this is SimGrid's text of a trace; reprise compress ring.txt -o OUT.rpz makes a trace of it"},
		{"verify ring.txt ring.rpz",
			"ring.txt: this is SimGrid's text of a trace; the trace comes first, then what it was made from"},
		{"info empty.txt", "empty.txt: the file is empty: whatever wrote it did not come to its end"},
		{"info cut.rpz",
			"cut.rpz: the file is cut off: it ends at byte *, without the end of a trace; reprise repair cut.rpz -o saved.rpz saves what can be read"},
		{"profile ring.rpz --ranks 2-9", "ring.rpz: no rank 4: the trace has ranks 0 to 3"},
		{"export ring.rpz -o out.csv --ranks 9", "ring.rpz: no rank 9: the trace has ranks 0 to 3"},
		{"profile empty.rpz --ranks 0", "empty.rpz: no rank 0: the trace has no ranks"},
		{"grammar empty.rpz", "empty.rpz: no rank made a call"},
		{"info disordered.rpz", "disordered.rpz: interleaving, section at offset *; reprise repair may save the rest"},
		{"cat orderless.rpz",
			"orderless.rpz: interleaving: merge: corrupt input: the file has no such section; reprise repair may save the rest"},
		{"merge orderless.rpz -o out.rpz",
			"orderless.rpz: the order of the calls of different ranks is damaged; reprise repair may save the rest"},
		{"merge missing.rpz -o out.rpz", "missing.rpz: no such file or directory"},
		{"merge ring.txt -o out.rpz",
			"ring.txt: this is SimGrid's text of a trace; reprise compress ring.txt -o OUT.rpz makes a trace of it"},
		{"merge empty.txt -o out.rpz", "empty.txt: the file is empty: whatever wrote it did not come to its end"},
		{"merge dir -o out.rpz", "dir: this is a directory with no files named ….rpz"},
		{"merge even.part.rpz flipped.part.rpz -o out.rpz",
			"2 problems:\n  flipped.part.rpz: shape, number 0, section at offset *\n  in no part that can be read: rank 1"},
		{"merge flipped.rpz -o out.rpz",
			"flipped.rpz: columns, number 0, section at offset *; reprise repair may save the rest"},
		{"merge disordered.rpz -o out.rpz",
			"disordered.rpz: interleaving, section at offset *; reprise repair may save the rest"},
		{"merge even.part.rpz odd.part.rpz even.part.rpz -o out.rpz",
			"even.part.rpz: is given twice, the first time as even.part.rpz: by itself, or in its directory"},
		{"merge even.part.rpz ./even.part.rpz -o out.rpz",
			"./even.part.rpz: is given twice, the first time as even.part.rpz: by itself, or in its directory"},
		{"merge odd.part.rpz ring.rpz -o out.rpz", "ranks 1-3:2 are in odd.part.rpz and in ring.rpz"},
		{"merge even.part.rpz odd.part.rpz --size 3 -o out.rpz",
			"odd.part.rpz: is of a run of at least 4 ranks, not 3"},
		{"compress ring.txt --size 3 -o out.rpz", "ring.txt:637:1: input exceeds limit: rank is not less than 3"},
		{"merge even.part.rpz odd.part.rpz -o missing/out.rpz", "missing/out.rpz: no such file or directory"},
		{"cat ring.rpz --ranks 3 --first 213", "ring.rpz: no call at position 213: rank 3 has 212 calls"},
		{"cat sparse.rpz --ranks 2 --first 1", "sparse.rpz: no call at position 1: rank 2 has 0 calls"},
		{"cat ring.rpz --first 849", "ring.rpz: no call at position 849: the trace has 848 calls"},
		{"cat mixed.rpz --first 18446744073709551615",
			"mixed.rpz: no call at position 18446744073709551615: the trace has 848 calls"},
		{"cat mixed.rpz --first 849 --json", "mixed.rpz: no call at position 849: the trace has 848 calls"},
		{"info later.rpz",
			"later.rpz: format: file has version 3, supported is version 2; a later reprise wrote it, and reads it"},
		{"cat ring.rpz --ranks 4", "ring.rpz: no rank 4: the trace has ranks 0 to 3"},
		{"cat empty.rpz --ranks 0", "empty.rpz: no rank 0: the trace has no ranks"},
		{"grammar ring.rpz --ranks 99", "ring.rpz: no rank 99: the trace has ranks 0 to 3"},
		{"grammar ring.rpz --shape 1", "ring.rpz: no shape 1: the trace has shapes 0 to 0"},
		{"grammar empty.rpz --shape 0", "empty.rpz: no shape 0: the trace has no calls"},
		{"grammar flipped.rpz --shape 1",
			"warning: flipped.rpz: arguments of calls of ranks 1-599:2 cannot be read: columns, number 0, section at offset *\nreprise: flipped.rpz: ranks 1-599:2 cannot be read; reprise repair may save the rest"},
		{"verify ring.rpz missing.txt", "missing.txt: no such file or directory"},
		{"verify ring.rpz binary.txt", "binary.txt:2:3: corrupt input: control byte 0x00"},
		{"verify missing.rpz ring.txt", "missing.rpz: no such file or directory"},
		{"repair ring.txt -o out.rpz",
			"ring.txt: this is SimGrid's text of a trace; reprise compress ring.txt -o OUT.rpz makes a trace of it"},
		{"repair empty.txt -o out.rpz", "empty.txt: the file is empty: whatever wrote it did not come to its end"},
		{"repair missing.rpz -o out.rpz", "missing.rpz: no such file or directory"},
		{"repair ring.rpz -o missing/out.rpz", "missing/out.rpz: no such file or directory"},
		{"cat timed.rpz --format ti",
			"timed.rpz: a SimGrid trace cannot hold the function send; reprise cat --format text, or json, writes its calls"},
		{"cat timed.rpz --split dir",
			"timed.rpz: a SimGrid trace cannot hold the function send; reprise cat --format text, or json, writes its calls"},
		{"cat ring.rpz --split missing/dir", "missing/dir: no such file or directory"},
	} {
		r := invoke(t, "", strings.Fields(tt.args)...)
		if want := "reprise: " + tt.want + "\n"; r.status != cli.ExitFailure || !matches(r.stderr, want) {
			t.Errorf("reprise %s: status %d, %q, want %d, %q", tt.args, r.status, r.stderr, cli.ExitFailure, want)
		}
	}
	if after := fileNames(t); after != before {
		t.Errorf("the directory has %s, had %s", after, before)
	}
}

// matches reports whether text is a pattern in which * stands for anything.
func matches(text, pattern string) bool {
	parts := strings.Split(pattern, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString(text)
}

func TestVersion(t *testing.T) {
	if got := must(t, "version"); !strings.HasPrefix(got,
		fmt.Sprintf("reprise %s, file format %d, go", cli.Version(), format.Version)) {
		t.Errorf("reprise version prints %q", got)
	}
	if got, want := must(t, "--version"), "reprise version "+cli.Version()+"\n"; got != want || cli.Version() == "" {
		t.Errorf("reprise --version prints %q, want %q", got, want)
	}
}

// TestPipedHints checks what helps if a file came through standard input.
func TestPipedHints(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for name, want := range map[string]string{
		"ring.xz":  "input: compressed by xz: decompress it first, for instance xz -dc FILE | reprise compress - -o OUT.rpz",
		"ring.rpz": "input: is a trace already: reprise info FILE describes it, reprise cat FILE writes its text",
	} {
		r := invoke(t, readFile(t, name), "compress", "-", "-o", "out.rpz")
		if r.status != cli.ExitFailure || r.stderr != "reprise: "+want+"\n" {
			t.Errorf("%s: status %d, %q, want %q", name, r.status, r.stderr, want)
		}
	}
}

// TestExamples checks that every command has examples, and that the command lines
// in them are valid.
func TestExamples(t *testing.T) {
	root := newRoot()
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Example == "" {
			t.Errorf("%s has no example", cmd.Name())
		}
		for _, text := range strings.FieldsFunc(cmd.Example, func(r rune) bool {
			return strings.ContainsRune("\n|>&", r)
		}) {
			if words := strings.Fields(text); words[0] == "reprise" {
				checkCommandLine(t, words[1:])
			}
		}
	}
}

func checkCommandLine(t *testing.T, words []string) {
	t.Helper()
	cmd, args, err := newRoot().Find(words)
	if err == nil {
		err = cmd.ParseFlags(args)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil || cmd.Name() == "reprise" {
		t.Errorf("reprise %s: command %s, error %v", strings.Join(words, " "), cmd.Name(), err)
	}
}

func TestHelp(t *testing.T) {
	if r := invoke(t, "", []string{}...); r.status != cli.ExitOK ||
		!strings.Contains(r.stdout, "\nRecord:\n  record ") {
		t.Errorf("without arguments: status %d, %q", r.status, r.stdout)
	}
	for _, cmd := range newRoot().Commands() {
		for _, args := range [][]string{{cmd.Name(), "--help"}, {"help", cmd.Name()}} {
			if r := invoke(t, "", args...); r.status != cli.ExitOK || !strings.Contains(r.stdout, "Examples:") {
				t.Errorf("reprise %s: status %d, %q", strings.Join(args, " "), r.status, r.stdout)
			}
		}
	}
}

// TestHelpLines checks that help fits a terminal.
func TestHelpLines(t *testing.T) {
	const width = 80
	root := newRoot()
	for _, cmd := range append(root.Commands(), root) {
		for line := range strings.Lines(
			must(t, append(strings.Fields(strings.TrimPrefix(cmd.CommandPath(), "reprise")), "--help")...)) {
			if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > width {
				t.Errorf("%s: %d columns: %s", cmd.Name(), utf8.RuneCountInString(line), line)
			}
		}
	}
}

// TestHelpOnce checks that no text stands in many helps, and that examples come first.
func TestHelpOnce(t *testing.T) {
	root := newRoot()
	in := make(map[string][]string)
	for _, cmd := range root.Commands() {
		help := must(t, cmd.Name(), "--help")
		usage, examples := strings.Index(help, "\nUsage:\n  reprise "+cmd.Name()), strings.Index(help, "\nExamples:\n")
		if usage < 0 || examples < usage || examples > 400 {
			t.Errorf("%s: usage at byte %d, examples at %d", cmd.Name(), usage, examples)
		}
		if flags := strings.Index(help, "\nFlags:\n"); strings.Contains(help, "--help") ||
			strings.Contains(help[max(flags, 0):], "--wide") {
			t.Errorf("%s lists flags of all commands:\n%s", cmd.Name(), help)
		}
		long := strings.Join(strings.Fields(cmd.Long), " ")
		for sentence := range strings.SplitSeq(long, ". ") {
			if len(sentence) > 30 && !slices.Contains(in[sentence], cmd.Name()) {
				in[sentence] = append(in[sentence], cmd.Name())
			}
		}
	}
	for sentence, commands := range in {
		if len(commands) > 1 {
			t.Errorf("%s in the help of %s: %s", text.Plural(len(commands), "time"),
				strings.Join(commands, ", "), sentence)
		}
	}
	if help := must(t, "help"); !strings.Contains(help, "\nFlags of all commands:\n") ||
		!strings.Contains(help, "--wide") {
		t.Errorf("reprise help:\n%s", help)
	}
}

// TestPlain checks how the Markdown of the help looks on a terminal.
func TestPlain(t *testing.T) {
	markdown := "A `command` that\nhas " + strings.Repeat("words ", 14) +
		"\n\n- `one`: `1` is\n  a number\n- `a very long term`: of its own\n\n    code  here\n      too\n\nEnd."
	want := "A command that has " + strings.Repeat("words ", 9) + "words\n" + strings.Repeat("words ", 3) +
		"words\n\n" +
		"  one  1 is a number\n  a very long term\n       of its own\n\n  code  here\n    too\n\nEnd.\n"
	if got := cli.Plain(markdown); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestHelpOnTimes checks that help has what users of times need to know.
func TestHelpOnTimes(t *testing.T) {
	for _, tt := range []struct {
		command string
		want    []string
	}{
		{"cat", []string{"jq 1.6", "--format text for every digit", "rank, position and call, with tabs",
			"start and duration in seconds"}},
		{"info", []string{"nanoseconds", "gaps", "histograms", "codec"}},
		{"record", []string{"times to keep, as above"}},
		{"replay", []string{"times to keep, as for record"}},
		{"repair", []string{"Times of calls can be damaged", "statistics and histograms"}},
	} {
		text := strings.Join(strings.Fields(must(t, tt.command, "--help")), " ")
		for _, want := range tt.want {
			if !strings.Contains(text, want) {
				t.Errorf("the help of %s has nothing about %q", tt.command, want)
			}
		}
	}
}

// TestHelpOnMPI checks that the help of cat explains what text shows of calls of MPI.
func TestHelpOnMPI(t *testing.T) {
	text := strings.Join(strings.Fields(must(t, "cat", "--help")), " ")
	for _, want := range []string{"thread=1", "leader=", "newrank=", "members=", "x_out=", "error=",
		"result=", "stack-8", "stack3", "static3+208144",
		"heap#3+16", "memory#0+8", "{}", "isend#0.1", "may be different objects", "whatever is smaller"} {
		if !strings.Contains(text, want) {
			t.Errorf("the help of cat has nothing about %s", want)
		}
	}
}

// A failingWriter fails after some bytes.
type failingWriter struct {
	left int
	err  error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if len(p) > w.left {
		return w.left, w.err
	}
	w.left -= len(p)
	return len(p), nil
}

// TestWriteErrors checks that no command succeeds whose output is lost, and that
// one whose output nobody wants ends without a word.
func TestWriteErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, args := range []string{
		"compress ring.txt -o out.rpz", "compress ring.txt -o out.rpz --json", "compress ring.txt -o -",
		"merge even.part.rpz odd.part.rpz -o out.rpz", "merge even.part.rpz odd.part.rpz -o out.rpz --json",
		"merge even.part.rpz odd.part.rpz -o -", "compress --part odd.txt -o -", "repair flipped.rpz -o -",
		"cat ring.rpz", "cat ring.rpz --json", "cat ring.rpz --format text --count 1", "info ring.rpz",
		"info ring.rpz --json",
		"grammar ring.rpz", "grammar ring.rpz --json", "grammar ring.rpz --dot", "grammar ring.rpz --shape 0",
		"verify ring.rpz ring.txt",
		"verify ring.rpz ring.txt --json", "repair ring.rpz -o out.rpz", "repair ring.rpz -o out.rpz --json",
		"repair ring.rpz -o -", "export ring.rpz -o out.parquet", "export ring.rpz -o - --format parquet",
		"export ring.rpz -o - --format csv",
		"export ring.rpz -o - --format pprof", "export ring.rpz -o - --format chrome", "help", "--help", "cat --help",
	} {
		for _, tt := range []struct {
			err    error
			status int
			stderr string
		}{
			{errors.New("no space"), cli.ExitFailure, "no space\n"},
			{fmt.Errorf("write: %w", syscall.EPIPE), cli.ExitBrokenPipe, ""},
		} {
			var stderr bytes.Buffer
			status := run(t.Context(), strings.Fields(args), strings.NewReader(""), &failingWriter{10, tt.err}, &stderr)
			if tt.stderr == "" && stderr.Len() > 0 {
				t.Errorf("reprise %s: %q", args, stderr.String())
			}
			if status != tt.status || !strings.HasSuffix(stderr.String(), tt.stderr) {
				t.Errorf("reprise %s: status %d, %q, want %d, %q", args, status, stderr.String(), tt.status, tt.stderr)
			}
		}
	}
}

// TestCancelled checks every command that works long.
func TestCancelled(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	before := fileNames(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range []string{
		"compress long.txt -o out.rpz", "compress long.txt -o long.rpz", "cat long.rpz",
		"cat long.rpz --split dir", "info long.rpz",
		"grammar long.rpz", "verify long.rpz long.txt", "repair long.rpz -o out.rpz", "demo",
		"export long.rpz -o out.parquet", "export long.rpz -o out.csv", "export long.rpz -o out.pb.gz",
		"export long.rpz -o out.json",
		"export long.rpz -o out.csv --by signature", "compress --part long.txt -o out.rpz",
		"merge even.part.rpz odd.part.rpz -o out.rpz", "merge long.rpz -o out.rpz",
	} {
		want := ""
		if strings.HasPrefix(args, "compress") {
			want = readFile(t, "long.rpz")
		}
		var stdout, stderr bytes.Buffer
		status := run(ctx, strings.Fields(args), strings.NewReader(""), &stdout, &stderr)
		if status != cli.ExitInterrupted || stdout.Len() > 0 || stderr.String() != "reprise: interrupted\n" {
			t.Errorf("reprise %s: status %d, %q, %q", args, status, stdout.String(), stderr.String())
		}
		if want != "" && readFile(t, "long.rpz") != want {
			t.Errorf("reprise %s: the old output changed", args)
		}
	}
	if after := fileNames(t); after != before {
		t.Errorf("the directory has %s, had %s", after, before)
	}
}

// TestCancelledInput checks that a read that would wait forever ends.
func TestCancelledInput(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "out.rpz", "old")
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer w.Close()
	go func() {
		io.WriteString(w, "0 init\n")
		cancel()
	}()
	var stderr bytes.Buffer
	if status := run(ctx, []string{"compress", "-", "-o", "out.rpz"}, r, io.Discard,
		&stderr); status != cli.ExitInterrupted {
		t.Errorf("status %d, %q", status, stderr.String())
	}
	if names := fileNames(t); names != "out.rpz" || readFile(t, "out.rpz") != "old" {
		t.Errorf("the directory has %s", names)
	}
}

// noError returns v, which cannot fail.
func noError[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
