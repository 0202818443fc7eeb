package otf2

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// exactly are options that keep all of an archive.
func exactly(t interface{ Fatal(...any) }, o Options) ImportOptions {
	codec, err := timing.NewLossless(timing.Zstd)
	must(t, err)
	series, err := timing.NewSeriesCodec(codec, codec, timing.Gaps)
	must(t, err)
	return ImportOptions{Options: o, Times: tracer.Options{Series: series}}
}

// imported returns the trace of an archive.
func imported(ctx context.Context, t interface{ Fatal(...any) }, directory string, o ImportOptions) *trace.Trace {
	in, err := Import(ctx, directory, o)
	must(t, err)
	var file bytes.Buffer
	must(t, merge.Write(&file, in.Run, in.Parts))
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	must(t, err)
	return tr
}

// TestImport makes traces of random archives, and archives of the traces.
func TestImport(t *testing.T) {
	o := options(t)
	directory := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		first := filepath.Join(directory, fmt.Sprintf("%d-first", n))
		second := filepath.Join(directory, fmt.Sprintf("%d-second", n))
		defer os.RemoveAll(first)
		defer os.RemoveAll(second)
		records := nested(t, drawArchive(t))
		write(t, o, first, records)
		tr := imported(t.Context(), t, first, exactly(t, o))
		if n, err := Compare(t.Context(), tr, first, o); err != nil || n != uint64(len(records)) {
			t.Fatalf("%d of %d records: %v", n, len(records), err)
		}
		_, err := Export(t.Context(), tr, second, o)
		must(t, err)
		if a, b := printed(t, first), printed(t, second); a != b {
			t.Fatalf("otf2-print says\n%s\nand not\n%s", b, a)
		}
		if len(records) == 0 {
			return
		}
		i := rapid.IntRange(0, len(records)-1).Draw(t, "changed")
		changed := *records[i]
		if len(changed.Values) == 0 || changed.Kind.Name == "ChunkSizes" || changed.Kind.Name == "Location" {
			return
		}
		records[i] = &changed
		changed.Values = append([]uint64{changed.Values[0] ^ 1}, changed.Values[1:]...)
		third := filepath.Join(directory, fmt.Sprintf("%d-third", n))
		defer os.RemoveAll(third)
		write(t, o, third, records)
		if d := new(Difference); changed.Kind.Class == Event || changed.Kind.Class == Definition {
			if _, err := Compare(t.Context(), tr, third, o); !errors.As(err, &d) || d.Record != uint64(i) {
				t.Fatalf("record %d was changed: %v", i, err)
			}
		}
	})
}

// nested adds Enter and Leave around some of the events, in regions of which some are defined.
func nested(t *rapid.T, records []*Record) []*Record {
	var all []*Record
	for i := range rapid.IntRange(0, 4).Draw(t, "regions") {
		names := []string{"MPI_Send", "", "Enter", "+x", "main", "MPI_Send"}
		name := rapid.SampledFrom(names).Draw(t, "name")
		all = append(all, &Record{Kind: LookupKind("String"), Values: []uint64{uint64(i)}, Texts: []string{name}},
			&Record{Kind: LookupKind("Region"), Values: []uint64{uint64(i), uint64(i), 0, 0, 0, 0, 0, 0, 0, 0}})
	}
	first := 0
	for first < len(records) && records[first].Kind.Class == Archive {
		first++
	}
	all = append(append([]*Record{}, records[:first]...), all...)
	var stack []uint64
	for _, r := range records[first:] {
		if r.Kind.Class != Event {
			all = append(all, r)
			continue
		}
		bracket := func(kind string, region uint64) {
			all = append(all, &Record{Kind: LookupKind(kind), Location: r.Location, Time: r.Time,
				Values: []uint64{region}})
		}
		switch rapid.IntRange(0, 4).Draw(t, "bracket") {
		case 0, 1:
			region := rapid.Uint64Range(0, 4).Draw(t, "region")
			bracket("Enter", region)
			stack = append(stack, region)
		case 2, 3:
			if n := len(stack) - 1; n >= 0 {
				bracket("Leave", stack[n])
				stack = stack[:n]
			}
		}
		all = append(all, r)
	}
	return all
}
