package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/ti"
)

func newInfo() *cobra.Command {
	var asJSON, quick bool
	cmd := &cobra.Command{
		Use:   "info TRACE.rpz",
		Short: "Show what is in a trace and what takes the space",
		Long: `Show what is in a trace: the run, its ranks and calls, the calls of each function,
and the sections of the file. For a trace made from a SimGrid trace also how much
smaller it is than the text, and than the text compressed by gzip and zstd, both
at their best level, which takes a while for a large trace.`,
		Args: exactArgs(1, "one trace"),
		RunE: func(cmd *cobra.Command, args []string) error {
			i, err := describe(cmd, args[0], !quick)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), i)
			}
			return i.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	cmd.Flags().BoolVar(&quick, "quick", false, "do not compare with gzip and zstd")
	return cmd
}

// An info is what the command info tells of a trace.
type info struct {
	Path       string          `json:"path"`
	Source     string          `json:"source"`
	Ranks      int             `json:"ranks"`
	Active     int             `json:"ranks_with_calls"`
	Calls      uint64          `json:"calls"`
	Signatures uint64          `json:"signatures"` // of all ranks
	Symbols    uint64          `json:"grammar_symbols"`
	Functions  []functionCount `json:"functions"`
	Sections   []sectionSize   `json:"sections"`
	Bytes      int64           `json:"bytes"`
	Text       *textSizes      `json:"text,omitempty"`
}

type functionCount struct {
	Name  string `json:"name"`
	Calls uint64 `json:"calls"`
}

// A sectionSize is the sizes of all sections of a kind.
type sectionSize struct {
	Kind    string `json:"kind"`
	Count   int    `json:"count"`
	Shared  int    `json:"shared"` // of them, those whose content another section holds
	Content int64  `json:"content_bytes"`
	Stored  int64  `json:"stored_bytes"`
}

// A textSizes is the size of a trace as text, and of the text compressed.
type textSizes struct {
	Plain uint64 `json:"plain_bytes"`
	Gzip  uint64 `json:"gzip_bytes,omitempty"`
	Zstd  uint64 `json:"zstd_bytes,omitempty"`
}

func describe(cmd *cobra.Command, path string, compare bool) (*info, error) {
	trace, err := reprise.Open(path)
	if err != nil {
		return nil, err
	}
	defer trace.Close()
	file, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	i := &info{Path: path, Source: trace.Run().Source, Ranks: trace.Ranks(), Bytes: file.Size()}
	if err := i.count(trace); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	i.sections(trace)
	if i.Text == nil || !compare {
		return i, nil
	}
	bar := newProgress(cmd.Context(), cmd.ErrOrStderr(), "compare", int64(i.Text.Plain))
	defer bar.done()
	if err := i.Text.compress(trace, bar); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return i, nil
}

// count counts calls and the bytes of their lines from the grammars, without
// expanding them.
func (i *info) count(trace *reprise.Trace) error {
	toTI, err := newConverter(trace)
	if err == nil && i.Source == sourceTI {
		i.Text = &textSizes{}
	}
	calls := make(map[string]uint64)
	var line []byte
	for n := range trace.Active() {
		rank, err := trace.Rank(n)
		if err != nil {
			return err
		}
		i.Active++
		i.Calls += rank.Len()
		i.Signatures += uint64(rank.Table().Len())
		i.Symbols += uint64(rank.Grammar().Symbols())
		for s, count := range rank.Grammar().Occurrences() {
			c := rank.Call(uint32(s))
			calls[c.Function.Name] += count
			if i.Text == nil {
				continue
			}
			if line, err = ti.AppendCall(line[:0], toTI(c)); err != nil {
				return err
			}
			i.Text.Plain += count * uint64(len(line))
		}
	}
	for name, n := range calls {
		i.Functions = append(i.Functions, functionCount{name, n})
	}
	slices.SortFunc(i.Functions, func(a, b functionCount) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name))
	})
	return nil
}

// sections sums up the sections by kind. What no section takes is the container.
func (i *info) sections(trace *reprise.Trace) {
	kinds := make(map[format.Kind]*sectionSize)
	rest := i.Bytes
	for _, s := range trace.Sections() {
		size := kinds[s.Kind]
		if size == nil {
			size = &sectionSize{Kind: merge.KindName(s.Kind)}
			kinds[s.Kind] = size
		}
		size.Count++
		size.Content += s.Len
		size.Stored += s.Size
		if s.Shared() {
			size.Shared++
		}
		rest -= s.Size
	}
	for _, k := range slices.Sorted(maps.Keys(kinds)) {
		i.Sections = append(i.Sections, *kinds[k])
	}
	i.Sections = append(i.Sections, sectionSize{Kind: "header, index", Count: 1, Content: rest, Stored: rest})
}

// compress writes the trace as text through gzip and zstd and counts what comes
// out. Each runs in a goroutine of its own.
func (t *textSizes) compress(trace *reprise.Trace, bar *progress) error {
	toTI, err := newConverter(trace)
	if err != nil {
		return err
	}
	var gz, zs counter
	gzipped, err := gzip.NewWriterLevel(&gz, gzip.BestCompression)
	if err != nil {
		return err
	}
	zstded, err := zstd.NewWriter(&zs, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	zstdIn, stop := inBackground(zstded)
	out := bufio.NewWriterSize(io.MultiWriter(gzipped, zstdIn), 1<<16)
	err = writeText(trace, ti.NewWriter(out), toTI, bar)
	for _, end := range []func() error{out.Flush, gzipped.Close, stop, zstded.Close} {
		if e := end(); err == nil {
			err = e
		}
	}
	t.Gzip, t.Zstd = uint64(gz), uint64(zs)
	return err
}

// inBackground returns a writer to w that does not wait for it, and a function
// that does.
func inBackground(w io.Writer) (io.Writer, func() error) {
	r, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(w, r)
		r.CloseWithError(err)
		done <- err
	}()
	return in, func() error {
		in.Close()
		return <-done
	}
}

func writeText(trace *reprise.Trace, w *ti.Writer, toTI func(reprise.Call) ti.Call, bar *progress) error {
	calls := trace.Calls(0)
	for {
		c, err := calls.Read()
		if err == io.EOF {
			return w.Flush()
		}
		if err == nil {
			err = w.Write(toTI(c))
		}
		if err == nil {
			err = bar.step(0)
		}
		if err != nil {
			return err
		}
	}
}

func (i *info) print(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s: %d ranks, %s calls, from %s\n", i.Path, i.Ranks, comma(i.Calls), i.Source)
	if i.Active < i.Ranks {
		fmt.Fprintf(w, "%d of the ranks made no calls\n", i.Ranks-i.Active)
	}
	fmt.Fprintf(w, "%s signatures and %s grammar symbols, all ranks together\n", comma(i.Signatures), comma(i.Symbols))
	fmt.Fprintf(out, "\nfunction\tcalls\t\t\n")
	for _, f := range i.Functions {
		fmt.Fprintf(out, "%s\t%s\t%.1f %%\t\n", f.Name, comma(f.Calls), 100*float64(f.Calls)/float64(i.Calls))
	}
	fmt.Fprintf(out, "\nsections\tnumber\tshared\tcontent\tstored\t\n")
	for _, s := range i.Sections {
		fmt.Fprintf(out, "%s\t%d\t%d\t%s\t%s\t\n", s.Kind, s.Count, s.Shared, comma(uint64(s.Content)), comma(uint64(s.Stored)))
	}
	fmt.Fprintln(out)
	printSizes(out, i.Text, uint64(i.Bytes))
	return out.Flush()
}

// printSizes prints the sizes of a trace beside those of its text, if that is
// known.
func printSizes(out io.Writer, t *textSizes, bytes uint64) {
	fmt.Fprintf(out, "size\tbytes\t\t\n")
	if t != nil {
		fmt.Fprintf(out, "text\t%s\t\t\n", comma(t.Plain))
		if t.Gzip > 0 {
			fmt.Fprintf(out, "gzip -9\t%s\t%s\t\n", comma(t.Gzip), ratio(t.Plain, t.Gzip))
			fmt.Fprintf(out, "zstd, best level\t%s\t%s\t\n", comma(t.Zstd), ratio(t.Plain, t.Zstd))
		}
		fmt.Fprintf(out, "this trace\t%s\t%s\t\n", comma(bytes), ratio(t.Plain, bytes))
		return
	}
	fmt.Fprintf(out, "this trace\t%s\t\n", comma(bytes))
}
