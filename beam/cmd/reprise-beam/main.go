// Command reprise-beam merges part files as a pipeline of Apache Beam: on this machine with
// its Prism runner, or on a cluster with Flink or Spark. The trace is the same to the byte as that of
// reprise merge. It also answers queries about all parts.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal"

	rbeam "github.com/reprise-trace/reprise/beam"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/content"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/regular"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

//go:embed help.txt
var help string

// Exit statuses, as those of the command reprise.
const (
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

var (
	output = flag.String("o", "", "the trace to write")
	asJSON = flag.Bool("json", false, "print the summary as JSON")
	asked  = flag.String("query", "", "what to write in place of the trace: profile or traffic")
	size   = flag.Int("size", 0, "number of ranks of the run")
)

// runnerNames are those of the runners that the command has.
var runnerNames = []string{"prism", "flink", "spark", "universal"}

// runnerName returns the name of the runner that is asked for.
func runnerName() string { return cmp.Or(*runners.Runner, "prism") }

// queries are what can be asked for, by name.
var queries = map[string]func(rbeam.Combine) any{
	"":        func(c rbeam.Combine) any { return &c },
	"profile": func(c rbeam.Combine) any { return &rbeam.CombineProfile{Combine: c} },
	"traffic": func(c rbeam.Combine) any { return &rbeam.CombineTraffic{Combine: c} },
}

func main() {
	flag.Usage = func() { io.WriteString(flag.CommandLine.Output(), help) }
	// A worker on another machine is this program, too, and ends in Init.
	flag.Parse()
	beam.Init()
	// What the SDK says of its own steps is left out: errors come back from it.
	slog.SetDefault(slog.New(slog.DiscardHandler))
	log.SetLogger(quiet{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, flag.Args(), os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// Quiet logs nothing.
type quiet struct{}

func (quiet) Log(context.Context, log.Severity, int, string) {}

func run(ctx context.Context, inputs []string, stdout, stderr io.Writer) int {
	if *output == "-" {
		fmt.Fprintln(stderr, "reprise-beam: workers write the output: -o takes a file")
		return exitUsage
	}
	if *output == "" || len(inputs) == 0 {
		fmt.Fprintf(stderr, "reprise-beam: no parts, or no -o\n\n%s", help)
		return exitUsage
	}
	if queries[*asked] == nil || *asJSON && *asked != "" {
		fmt.Fprintf(stderr, "reprise-beam: --query is profile or traffic, without --json: the answer is JSON\n")
		return exitUsage
	}
	if name := *runners.Runner; name != "" && !slices.Contains(runnerNames, name) {
		fmt.Fprintf(stderr, "reprise-beam: --runner %q is none of %s\n", name, strings.Join(runnerNames, ", "))
		return exitUsage
	}
	if _, err := endpointOf(runnerName()); err != nil {
		fmt.Fprintf(stderr, "reprise-beam: %v\n", err)
		return exitUsage
	}
	if *size < 0 {
		fmt.Fprintf(stderr, "reprise-beam: --size is a number of ranks, not %d\n", *size)
		return exitUsage
	}
	s := summary{Schema: 1, Input: inputs, Output: *output}
	ended := make(chan error, 1)
	go func() { ended <- s.merge(ctx) }()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done(): // it does not wait for what does not notice that
	}
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "reprise-beam: interrupted")
		return exitInterrupted
	case err != nil:
		fmt.Fprintf(stderr, "reprise-beam: %v\n", err)
		return exitFailure
	}
	if err := s.print(stdout, stderr); err != nil {
		fmt.Fprintf(stderr, "reprise-beam: %v\n", err)
		return exitFailure
	}
	return 0
}

// A summary has what that of reprise merge has, under the same names.
type summary struct {
	Schema  int         `json:"schema"`
	Input   []string    `json:"input"`
	Output  string      `json:"output"`
	Parts   int         `json:"parts"` // files that were merged
	Ranks   int         `json:"run_ranks"`
	Active  int         `json:"ranks"` // with calls
	Missing rankenc.Set `json:"missing_rank_set"`
	Calls   uint64      `json:"calls"`
	Shapes  int         `json:"number_of_shapes"`
	Bytes   int64       `json:"trace_bytes"`
	Beyond  *beyond     `json:"beyond"` // null if calls name only ranks of the run
}

// A beyond is a call that names a rank which the run does not have.
type beyond struct {
	Rank     int64  `json:"rank"`
	Caller   int    `json:"caller"`
	Function string `json:"function"`
}

// merge merges the parts that s names, and fills in the rest of s.
func (s *summary) merge(ctx context.Context) error {
	out, err := filepath.Abs(s.Output) // workers may run elsewhere
	if err != nil {
		return err
	}
	paths, err := merge.PartFiles(out, 0, s.Input...)
	if err != nil {
		return saying(err)
	}
	s.Parts = len(paths)
	files := slices.Clone(paths) // as they were named
	there, _ := os.Stat(out)
	for i, path := range paths {
		if paths[i], err = filepath.Abs(path); err != nil {
			return err
		}
		if part, err := os.Stat(path); err == nil && os.SameFile(part, there) {
			return fmt.Errorf("%s is an input: the output would replace it", s.Output)
		}
	}
	pipeline, scope := beam.NewPipelineWithRoot()
	rbeam.Write(scope, out, beam.Combine(scope, queries[*asked](rbeam.Combine{Ranks: *size}), rbeam.Read(scope, paths)))
	runner := runnerName()
	if err := checkEndpoint(ctx, runner); err != nil {
		return err
	}
	if _, err := beam.Run(ctx, runner, pipeline); err != nil {
		if ctx.Err() == nil {
			if damaged := unreadable(ctx, files); damaged != nil { // the pipeline ended at one of them
				return saying(damaged)
			}
		}
		return causeOf(err)
	}
	if *asked != "" {
		return nil
	}
	return s.describe(ctx, out)
}

// unreadable returns the errors of all files that are no parts which can be read to their end, joined.
func unreadable(ctx context.Context, files []string) error {
	var list []error
	for _, path := range files {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := checkPart(path); err != nil {
			list = append(list, &merge.PartError{Path: path, Err: err})
		}
	}
	return errors.Join(list...)
}

// checkPart reads a part file to its end.
func checkPart(path string) error {
	f, err := regular.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := format.NewReader(f, info.Size(), layout.FileOptions(info.Size(), 0))
	if err == nil {
		_, err = merge.ReadPart(file)
	}
	return err
}

// saying returns the errors of parts with what files are that are no parts, as reprise merge says it, a line
// for each.
func saying(err error) error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var lines []string
	for _, err := range list.Unwrap() {
		var part *merge.PartError
		line := err.Error()
		if errors.As(err, &part) {
			said := content.Check(part.Path)
			switch info, err := os.Stat(part.Path); {
			case said == nil && errors.Is(part, format.ErrFormat):
				said = content.NoTrace(part.Path)
			case err == nil && info.IsDir() && !errors.Is(part, regular.ErrIrregular) && !collect.IsSpool(part.Path):
				said = nil // a directory is right, but it has no parts
			}
			if said != nil {
				line = part.Path + ": " + said.Error()
			}
			if what := (content.Error{}); errors.As(said, &what) {
				line += "; " + what.Hint()
			}
		}
		lines = append(lines, text.Escape(line))
	}
	return errors.New(strings.Join(lines, "\nreprise-beam: "))
}

// patience is how long a job server has to take a connection.
const patience = 10 * time.Second

// endpointOf returns the endpoint of a runner, empty if it has none.
func endpointOf(runner string) (string, error) {
	if runner == "prism" {
		return "", nil
	}
	endpoint, err := jobopts.GetEndpoint()
	if err != nil {
		return "", fmt.Errorf("--runner=%s needs the --endpoint of a job server, as HOST:PORT", runner)
	}
	if _, port, err := net.SplitHostPort(endpoint); (err != nil || port == "") && !hasScheme(endpoint) {
		return "", fmt.Errorf("--endpoint=%s is not HOST:PORT, such as localhost:8099", endpoint)
	}
	return endpoint, nil
}

// hasScheme reports whether an endpoint says how it is to be reached, as dns:///localhost:8099.
func hasScheme(endpoint string) bool {
	return strings.Contains(endpoint, "://") || strings.HasPrefix(endpoint, "unix:")
}

// checkEndpoint returns an error if nobody serves the endpoint of a runner that has one: the SDK would wait
// for that without a word.
func checkEndpoint(ctx context.Context, runner string) error {
	endpoint, err := endpointOf(runner)
	if err != nil || endpoint == "" || hasScheme(endpoint) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	connection, err := new(net.Dialer).DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return fmt.Errorf("no job server at --endpoint=%s: %w", endpoint, err)
	}
	return connection.Close()
}

// causeOf returns the cause of an error of a pipeline, which is the last line of its text: the others are the
// steps that it passed through.
func causeOf(err error) error {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return errors.New(strings.TrimSpace(lines[len(lines)-1]))
}

// describe fills in facts about the trace.
func (s *summary) describe(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return errors.Join(errors.New("workers do not write to a directory that is here, too"), err)
	}
	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		return err
	}
	defer tr.Close()
	ranks := tr.RankSet()
	s.Ranks, s.Active, s.Shapes, s.Bytes = tr.Ranks(), ranks.Len(), tr.Shapes(), info.Size()
	s.Missing = rankenc.World(s.Ranks).Difference(ranks)
	for i := range tr.Shapes() {
		shape, err := tr.Shape(i)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		s.Calls = wire.AddSat(s.Calls, wire.MulSat(uint64(shape.Ranks.Len()), shape.Grammar.Len()))
	}
	if s.Beyond, err = beyondOf(ctx, path, tr); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// beyondOf returns the call that names the highest rank, if that is none of the run. Where parts say how many
// ranks MPI_COMM_WORLD has, it does not look, which takes longer than merging.
func beyondOf(ctx context.Context, path string, tr *trace.Trace) (*beyond, error) {
	if tr.Run().Origin.World > 0 {
		return nil, nil
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p, ok, known := rbeam.HighestPeer(file)
	if !known { // another process has made it
		var all merge.Accumulator
		if err := tr.AddTo(ctx, &all); err != nil {
			return nil, err
		}
		p, ok = all.HighestPeer()
	}
	if ok && p.Rank >= int64(tr.Ranks()) {
		return &beyond{p.Rank, p.Caller, p.Function}, nil
	}
	return nil, nil
}

func (s *summary) print(stdout, stderr io.Writer) error {
	if *asked != "" {
		_, err := fmt.Fprintf(stdout, "%s -> %s: %s\n", text.Plural(s.Parts, "part"), s.Output, *asked)
		return err
	}
	if *asJSON {
		out := json.NewEncoder(stdout)
		out.SetIndent("", "  ")
		return out.Encode(s)
	}
	if s.Missing.Len() > 0 {
		fmt.Fprintf(stderr, "reprise-beam: warning: in no part: %s\n", text.Ranks(s.Missing))
	}
	if b := s.Beyond; b != nil {
		cure := "; --size says how many there are"
		if *size > 0 {
			cure = ""
		}
		fmt.Fprintf(stderr,
			"reprise-beam: warning: rank %d names rank %d in a call of %s, which is not one of the %s%s\n",
			b.Caller, b.Rank, text.Printable(b.Function), text.Plural(s.Ranks, "rank"), cure)
	}
	_, err := fmt.Fprintf(stdout, "%s: %s, %s -> %s: %s, %s\n", text.Plural(s.Parts, "part"),
		text.Plural(s.Active, "rank"), text.Plural(s.Calls, "call"),
		s.Output, text.Plural(s.Shapes, "shape"), text.Plural(s.Bytes, "byte"))
	return err
}
