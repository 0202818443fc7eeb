package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	zstd "github.com/reprise-trace/reprise/internal/compress"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/trace"
)

// isArchive reports whether inputs are an archive of OTF2: its anchor file, or its directory.
func isArchive(paths []string) bool {
	if len(paths) != 1 {
		return false
	}
	info, err := os.Stat(paths[0])
	if err == nil && info.IsDir() {
		return len(otf2.Anchors(paths[0])) > 0
	}
	return err == nil && strings.HasSuffix(paths[0], ".otf2")
}

// An ArchiveSummary is what compress reports of an archive of OTF2.
type ArchiveSummary struct {
	Schema       int    `json:"schema"`
	Input        string `json:"input"`
	Output       string `json:"output"`
	Part         bool   `json:"part"`
	Ranks        int    `json:"run_ranks"`
	Active       int    `json:"ranks"`
	Locations    int    `json:"locations"`
	Definitions  uint64 `json:"definitions"`
	Events       uint64 `json:"events"`
	Calls        uint64 `json:"calls"`
	ArchiveBytes int64  `json:"archive_bytes"`
	TraceBytes   int64  `json:"trace_bytes"`

	Doubts []string `json:"warnings,omitempty"`
}

func compressArchive(cmd *cobra.Command, path string, o *WriteOptions, times *cli.TimesFlag) error {
	if o.Size != 0 {
		return cli.BadUsage(errors.New("--size does not go with an archive of OTF2, which says how many processes there are"))
	}
	if !cmd.Flags().Changed("times") && !cmd.Flags().Changed("error") {
		times.Words = "exact"
	}
	kept, err := times.Options()
	if err != nil {
		return cli.BadUsage(err)
	}
	cli.Impatient.Store(true)
	defer zstd.Hold()()
	cli.GrowHeapBy(50)
	s := ArchiveSummary{Schema: cli.Schema, Input: path, Output: o.Output, Part: o.Part}
	if s.ArchiveBytes, err = bytesOf(path); err != nil {
		return cli.FileError(path, err)
	}
	building := launching.Building{Stderr: cmd.ErrOrStderr()}
	defer building.End()
	err = cli.WriteOutput(cmd, o.Output, []string{path}, func(w io.Writer) error {
		cmd.SetContext(cli.Together(cmd.Context(), false))
		bar := cli.NewCounter(cmd.Context(), cmd.ErrOrStderr(), "compress", -1, "events")
		in, err := otf2.Import(cmd.Context(), path, otf2.ImportOptions{Times: kept.Times,
			Memory: cli.MemoryOf(cmd.Context()),
			Options: otf2.Options{CacheDir: launching.CacheDirectory(),
				Building: func() { building.Say("the bridge to OTF2's library") }},
			Progress: func(events uint64) error { building.End(); bar.Show(events); return nil }})
		bar.Done()
		if err != nil {
			return err
		}
		s.Ranks, s.Active, s.Locations = in.Run.Ranks, len(in.Parts), in.Locations
		s.Definitions, s.Events, s.Calls = in.Definitions, in.Events, in.Calls
		var a merge.Accumulator
		for i, p := range in.Parts {
			in.Parts[i] = merge.Part{} // which is not needed twice
			if kept.Untimed {
				p.Times = nil
			}
			if err := a.Add(p); err != nil {
				return err
			}
		}
		if err := a.Describe(in.Run); err != nil {
			return err
		}
		in = nil
		file, err := EncodeTrace(cmd, &a, o.Part, int64(o.Bounded))
		if err != nil {
			return err
		}
		s.TraceBytes = int64(len(file))
		if _, err = w.Write(file); err != nil || o.Part {
			return err
		}
		t, err := trace.OpenReader(bytes.NewReader(file), s.TraceBytes, trace.Options{})
		if err == nil {
			s.Doubts = cli.WarnDoubts(cmd.Context(), cmd.ErrOrStderr(), o.Output, t)
			t.Close()
		}
		return err
	})
	if err != nil {
		return err
	}
	if s.Events == 0 {
		cli.Warn(cmd.ErrOrStderr(), "%s: the archive has no events", path)
	}
	out := cli.SummaryOf(cmd, o.Output)
	if o.JSON {
		return cli.PrintJSON(out, s)
	}
	fmt.Fprintf(out, "%s: %s, %s, %s, %s -> %s: %s, %s, %s\n", text.Printable(path), cli.RankCount(s.Ranks, s.Active),
		text.Plural(s.Locations, "location"), text.Plural(s.Events, "event"), text.Plural(s.ArchiveBytes, "byte"),
		text.Printable(o.Output), text.Plural(s.Calls, "call"), text.Plural(s.TraceBytes, "byte"),
		text.Ratio(uint64(s.ArchiveBytes), uint64(s.TraceBytes)))
	return nil
}

// bytesOf returns the size of the files of an archive.
func bytesOf(path string) (n int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	directory := path
	if !info.IsDir() {
		directory = filepath.Dir(path)
	}
	err = filepath.WalkDir(directory, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		n += info.Size()
		return err
	})
	return n, err
}

// An archiveAnswer is whether a trace is what an archive of OTF2 has.
type archiveAnswer struct {
	cli.Header
	Equal      bool             `json:"equal"`
	Records    uint64           `json:"records"`    // compared
	Difference *otf2.Difference `json:"difference"` // null if there is none
}

// verifyArchive compares a trace with an archive.
func verifyArchive(q *cli.Question, path string) error {
	building := launching.Building{Stderr: q.ErrOrStderr()}
	defer building.End()
	n, err := otf2.Compare(q.Context(), q.Trace, path, otf2.Options{CacheDir: launching.CacheDirectory(),
		Building: func() { building.Say("the bridge to OTF2's library") }})
	building.End()
	switch {
	case errors.Is(err, otf2.ErrNotImported):
		const cure = "the trace was not made of an archive: reprise compress makes one of %s, and reprise diff compares"
		return fmt.Errorf(cure, text.Printable(path))
	case errors.Is(err, otf2.ErrNotExact):
		return fmt.Errorf("the trace does not have all of %s: its times are within an error, or ranks are left out",
			text.Printable(path))
	}
	a := archiveAnswer{Header: q.Header(), Records: n}
	if err != nil && !errors.As(err, &a.Difference) {
		return cli.Named(err)
	}
	a.Equal = a.Difference == nil
	if q.JSON {
		if err := cli.PrintJSON(q.OutOrStdout(), a); err != nil {
			return err
		}
	}
	switch {
	case !a.Equal:
		return cli.Named(fmt.Errorf("%s differs: %w", q.Path, err))
	case !q.JSON:
		q.Printf("equal: %s\n", text.Plural(n, "record"))
	}
	return nil
}
