package otf2

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/format"
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

// fed returns the trace of records.
func fed(t *rapid.T, records []*Record) []byte {
	o := exactly(t, Options{})
	var in *Imported
	for _, plain := range []bool{false, true} {
		g := newImporter(&o)
		var err error
		for _, r := range records {
			if err = g.take(r, plain); err != nil {
				break
			}
		}
		if err == nil {
			in, err = g.finish()
		}
		if !errors.Is(err, errScale) {
			must(t, err)
			break
		}
	}
	var file bytes.Buffer
	must(t, merge.Write(&file, in.Run, in.Parts))
	return file.Bytes()
}

func openBytes(data []byte) (*trace.Trace, error) {
	return trace.OpenReader(bytes.NewReader(data), int64(len(data)), trace.Options{})
}

// drawRecords draws the records of an archive, which has all locations with events. OTF2's library refuses to write
// times that decrease.
func drawRecords(t *rapid.T, mayGoBack bool) []*Record { return nested(t, drawArchive(t, mayGoBack)) }

// TestProcessors checks that an archive is the same trace however many locations are encoded at once.
func TestProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t, false)
		runtime.GOMAXPROCS(1)
		want := fed(t, records)
		runtime.GOMAXPROCS(rapid.IntRange(2, 5).Draw(t, "processors"))
		if got := fed(t, records); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes on %d processors, %d on one", len(got), runtime.GOMAXPROCS(0), len(want))
		}
	})
}

// TestRecords makes traces of random records, and the records again, without OTF2's library.
func TestRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := drawRecords(t, true)
		tr, err := openBytes(fed(t, records))
		must(t, err)
		differ(t, emittedBy(t, tr), records)
		s, err := SemanticsOf(tr)
		must(t, err)
		_, err = semanticsOfAll(tr, s)
		must(t, err)
	})
}

// emittedBy returns the records of a trace.
func emittedBy(t *rapid.T, tr *trace.Trace) (records []*Record) {
	must(t, each(t.Context(), tr, func(r *Record) error {
		records = append(records, &Record{r.Kind, r.Location, r.Time, slices.Clone(r.Values), slices.Clone(r.Texts),
			slices.Clone(r.Attributes)})
		return nil
	}))
	return records
}

// TestWithoutFields makes a trace of a call with events that have attributes but no fields, and the records again.
func TestWithoutFields(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := []*Record{
			{Kind: LookupKind("String"), Values: []uint64{0}, Texts: []string{"MPI_Barrier"}},
			{Kind: LookupKind("Region"), Values: make([]uint64, 10)},
			{Kind: LookupKind("Location"), Values: make([]uint64, 5)},
			{Kind: enterKind, Values: []uint64{0}},
		}
		for range rapid.IntRange(1, 4).Draw(t, "events") {
			records = append(records, &Record{Kind: LookupKind("MpiCollectiveBegin"),
				Attributes: []Attribute{{ID: 0, Type: 3, Value: rapid.Uint64Range(0, 1).Draw(t, "value")}}})
		}
		records = append(records, &Record{Kind: leaveKind, Values: []uint64{0}})
		tr, err := openBytes(fed(t, records))
		must(t, err)
		differ(t, emittedBy(t, tr), records)
	})
}

// TestManyComms checks that the members of a group are held once for all of its communicators.
func TestManyComms(t *testing.T) {
	const n = 1000
	record := func(kind string, values ...uint64) *Record {
		k := LookupKind(kind)
		return &Record{Kind: k, Values: append(values, make([]uint64, max(0, len(k.Fields)-len(values)))...)}
	}
	a := newArchive()
	world := record("Group", 0, 0, setCommLocations, paradigmMPI, 0)
	members := record("Group", 1, 0, setCommGroup, paradigmMPI, 0)
	for i := range uint64(n) {
		a.add(record("LocationGroup", i, 0, groupProcess))
		a.add(record("Location", i, 0, 0, 0, i))
		world.Values, members.Values = append(world.Values, i), append(members.Values, n-1-i)
	}
	a.add(world)
	a.add(members)
	for i := range uint64(n) {
		a.add(record("Comm", i, 0, 1))
	}
	s := &Semantics{archive: a, comms: make(map[int64]*commOf)}
	var before, after runtime.MemStats
	ranks := a.place()
	runtime.ReadMemStats(&before)
	s.addComms(ranks)
	runtime.ReadMemStats(&after)
	if len(s.groups) != n || s.groups[n-1].Ranks[0] != n-1 {
		t.Fatalf("%d communicators", len(s.groups))
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
		t.Errorf("%d communicators of one group take %d bytes", n, used)
	}
}

// semanticsOfAll asks what all calls mean.
func semanticsOfAll(tr *trace.Trace, s *Semantics) (n int, err error) {
	for _, rank := range tr.RankSet().All() {
		r, err := tr.Rank(rank)
		if err != nil {
			return n, err
		}
		for terminal := range uint32(r.Terminals()) {
			c := r.Call(terminal)
			s.Of(rank, &c)
			n++
		}
	}
	return n, nil
}

// TestDamagedKept changes what a trace keeps: it is an error, or gives other records.
func TestDamagedKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr, err := openBytes(fed(t, drawRecords(t, true)))
		must(t, err)
		var all merge.Accumulator
		must(t, all.Describe(merge.Run{Ranks: tr.Ranks()}))
		for _, rank := range tr.RankSet().All() {
			part, err := tr.Part(rank)
			must(t, err)
			must(t, all.Add(part))
		}
		_, err = tr.AddTimes(&all)
		must(t, err)
		for i := range 12 {
			name := keyOf(i - 2)
			if i < 2 {
				name = []string{keptName, keptExact}[i]
			}
			data, ok, err := tr.Kept(name)
			must(t, err)
			if !ok {
				continue
			}
			for range rapid.IntRange(0, 3).Draw(t, "changes") {
				if len(data) > 0 {
					data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
				}
			}
			must(t, all.Describe(merge.Run{Kept: []format.Kept{{Name: name, Data: data}}}))
		}
		var file bytes.Buffer
		must(t, all.Write(&file))
		damaged, err := openBytes(file.Bytes())
		must(t, err)
		n := 0
		_ = each(t.Context(), damaged, func(*Record) error {
			if n++; n > 1<<20 {
				t.Fatal("no end of records")
			}
			return nil
		})
		if s, err := SemanticsOf(damaged); err == nil && s != nil {
			_, err = semanticsOfAll(damaged, s)
			must(t, err)
		}
	})
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
		records := drawRecords(t, false)
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
