// Command fuzzall runs every fuzz target of every module of the repository, one after the other.
//
//	go run ./internal/test/fuzzall -time 4s          # each for four seconds
//	go run ./internal/test/fuzzall -time 4s -one-in 8 -by "$(git rev-parse HEAD)" # an eighth of the targets, which the text chooses
//	go run ./internal/test/fuzzall -total 8h         # all of them in rounds of a minute each, for eight hours
//	go run ./internal/test/fuzzall -time 1m ./format/... ./timing/...
//	go run ./internal/test/fuzzall -time 8s -keep 4  # and copies four small inputs that each has found to testdata/fuzz, where go test runs them
//	go run ./internal/test/fuzzall -mutate -total 8h # without the fuzzer, see internal/test/mutate: many times as many inputs, of which nothing is learned
//
// It prints how many inputs each target was run on. A target that fails is not run again, its output is
// printed, and the status is 1: the input that fails is in testdata/fuzz of its package. What fuzzing learns
// is kept in the build cache. An interrupt ends it with the sum so far.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("fuzzall", flag.ContinueOnError)
	flags.SetOutput(stderr)
	each := flags.Duration("time", time.Minute, "how long each target runs in a round; 0 runs none")
	total := flags.Duration("total", 0, "how long all of them run, in rounds; 0 is one round")
	oneIn := flags.Int("one-in", 1, "run one in so many targets")
	by := flags.String("by", "", "which ones: any text, such as the hash of a commit")
	mutate := flags.Bool("mutate", false, "mutate what the fuzzer has found, without it")
	kept := flags.Int("keep", 0,
		"copy so many inputs that the fuzzer has found for each target to testdata/fuzz of its package")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	packages, err := find(ctx, flags.Args())
	if err != nil {
		fmt.Fprintln(stderr, "fuzzall:", err)
		return 1
	}
	cache, err := output(ctx, "env", "GOCACHE")
	if err != nil {
		fmt.Fprintln(stderr, "fuzzall:", err)
		return 1
	}
	packages = choose(packages, max(1, *oneIn), *by)
	directory, err := os.MkdirTemp("", "fuzzall")
	if err != nil {
		fmt.Fprintln(stderr, "fuzzall:", err)
		return 1
	}
	defer os.RemoveAll(directory)
	found := filepath.Join(strings.TrimSpace(string(cache)), "fuzz")
	s := session{directory: directory, found: found, each: *each, mutate: *mutate, out: stdout}
	if *total > 0 {
		s.until = time.Now().Add(*total)
	}
	if *each == 0 { // only keeps
	} else if err := s.rounds(ctx, packages); err != nil {
		fmt.Fprintln(stderr, "fuzzall:", err)
		return 1
	}
	copied, err := keep(found, packages, *kept)
	if err != nil {
		fmt.Fprintln(stderr, "fuzzall:", err)
		return 1
	}
	if *kept > 0 {
		fmt.Fprintf(stdout, "%d inputs copied\n", copied)
	}
	return 0
}

// A session is the running of all targets.
type session struct {
	directory string // of the test programs
	found     string // directory of what the fuzzer has found, by package
	each      time.Duration
	mutate    bool      // without the fuzzer
	until     time.Time // zero for one round
	out       io.Writer

	executions uint64
	failed     map[string]bool
}

// rounds runs all targets, again and again until the time is over.
func (s *session) rounds(ctx context.Context, packages []fuzzed) error {
	s.failed = make(map[string]bool)
	for round := 0; round == 0 || time.Now().Before(s.until); round++ {
		for i, p := range packages {
			binary := filepath.Join(s.directory, strconv.Itoa(i)+".test")
			if round == 0 {
				if err := p.build(ctx, binary, s.mutate); ctx.Err() != nil {
					return s.end(ctx)
				} else if err != nil {
					return err
				}
			}
			for _, target := range p.targets {
				if ctx.Err() != nil || round > 0 && time.Now().After(s.until) {
					return s.end(ctx)
				}
				if err := s.target(ctx, p, binary, target); err != nil {
					return err
				}
			}
		}
		if len(s.failed) > 0 && s.until.IsZero() {
			break
		}
	}
	return s.end(ctx)
}

// end prints the sum.
func (s *session) end(ctx context.Context) error {
	fmt.Fprintf(s.out, "%d executions, %d targets failed\n", s.executions, len(s.failed))
	if len(s.failed) > 0 {
		return errors.New("there are inputs that fail, in testdata/fuzz")
	}
	return ctx.Err()
}

// executed is how the fuzzer says what it did so far, and how internal/test/mutate does.
var executed = regexp.MustCompile(`(?m)^(?:fuzz: elapsed: .*, execs: |mutate: executions: )(\d+)`)

// target runs a target. The fuzzer sometimes reports its own deadline as a failure, with no input that
// fails: then the target runs again.
func (s *session) target(ctx context.Context, p fuzzed, binary, target string) error {
	name := p.ImportPath + " " + target
	if s.failed[name] {
		return nil
	}
	for range 3 {
		log, err := p.fuzz(ctx, binary, target, s)
		n := executionsOf(log)
		s.executions += n
		switch {
		case ctx.Err() != nil:
			return nil // rounds sees it
		case err == nil:
			_, err = fmt.Fprintf(s.out, "%s %d\n", name, n)
			return err
		case strings.Contains(log, "context deadline exceeded") && !strings.Contains(log, "Failing input"):
			continue
		}
		s.failed[name] = true
		_, err = fmt.Fprintf(s.out, "%s\n%s", name, log)
		return err
	}
	return fmt.Errorf("%s does not end in its time, three times", name)
}

// executionsOf returns how many inputs a log tells of.
func executionsOf(log string) uint64 {
	all := executed.FindAllStringSubmatch(log, -1)
	if len(all) == 0 {
		return 0
	}
	n, _ := strconv.ParseUint(all[len(all)-1][1], 10, 64)
	return n
}

// build builds the test program of a package, which tells the fuzzer what it reaches unless it runs without
// it.
func (p fuzzed) build(ctx context.Context, binary string, mutate bool) error {
	args := []string{"test", "-c", "-o", binary}
	if !mutate {
		args = append(args, "-fuzz", ".")
	}
	c := exec.CommandContext(ctx, "go", append(args, p.ImportPath)...)
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", p.ImportPath, err, out)
	}
	return nil
}

// fuzz runs a target for some time, and returns its output.
func (p fuzzed) fuzz(ctx context.Context, binary, target string, s *session) (string, error) {
	found := filepath.Join(s.found, p.ImportPath)
	// An input that reaches something new is made smaller for 60 s unless that is said: of one of a kilobyte,
	// nothing else is tried in that time.
	args := []string{"-test.run", "^$", "-test.fuzz", "^" + target + "$", "-test.fuzztime", s.each.String(),
		"-test.fuzzminimizetime", "20x", "-test.fuzzcachedir", found}
	if s.mutate {
		args = []string{"-test.run", "^" + target + "$", "-test.timeout", (s.each + time.Minute).String(),
			"-mutate", s.each.String(), "-mutatecache", found,
			"-mutateseed", strconv.FormatUint(rand.Uint64(), 10)}
	}
	c := exec.CommandContext(ctx, binary, args...)
	c.Dir = p.Dir
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	out, err := c.CombinedOutput()
	return string(out), err
}
