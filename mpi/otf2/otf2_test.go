package otf2

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/e2e"
)

// options are those of tests, which skip where OTF2's library is missing.
func options(t *testing.T) Options {
	t.Helper()
	e2e.Programs(t)
	o := Options{CacheDir: filepath.Join(os.TempDir(), "reprise-test-otf2")}
	if _, err := o.bridge(t.Context()); errors.Is(err, ErrNoLibrary) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	return o
}

// sizes are those of types in bits.
var sizes = map[string]int{
	"uint8_t": 8, "uint32_t": 32, "uint64_t": 64, "int64_t": 64, "LocationRef": 64, "TimeStamp": 64, "MetricValue": 64,
	"IoParadigmRef": 8, "IoHandleFlag": 32, "IoStatusFlag": 32, "IoCreationFlag": 32, "IoOperationFlag": 32,
	"IoParadigmFlag": 32, "RegionFlag": 32, "GroupFlag": 32, "CommFlag": 32, "RmaWinFlag": 32,
	"StringRef": 32, "AttributeRef": 32, "SystemTreeNodeRef": 32, "LocationGroupRef": 32, "RegionRef": 32,
	"CallsiteRef": 32, "CallpathRef": 32, "GroupRef": 32, "MetricMemberRef": 32, "MetricRef": 32, "CommRef": 32,
	"ParameterRef": 32, "RmaWinRef": 32, "CartDimensionRef": 32, "CartTopologyRef": 32, "SourceCodeLocationRef": 32,
	"CallingContextRef": 32, "InterruptGeneratorRef": 32, "IoFileRef": 32, "IoHandleRef": 32, "MarkerRef": 32,
}

// drawValue draws a value of a type. before is the value before, which is the type of an AttributeValue.
func drawValue(t *rapid.T, kind string, before uint64) uint64 {
	if names := theTable().names[kind]; names != nil {
		values := make([]uint64, 0, len(names))
		for v := range names {
			if kind != "Type" || v > 0 {
				values = append(values, v)
			}
		}
		slices.Sort(values)
		return rapid.SampledFrom(values).Draw(t, kind)
	}
	size, ok := sizes[kind]
	if kind == "AttributeValue" {
		signed := before >= 5 && before <= 8
		size = [...]int{1: 8, 2: 16, 3: 32, 4: 64, 5: 8, 6: 16, 7: 32, 8: 64, 10: 64, 13: 64, 25: 32}[before]
		if size == 0 {
			size = 32
		}
		v := rapid.Uint64Range(0, 1<<size-1).Draw(t, "value")
		if size == 64 {
			v = rapid.Uint64().Draw(t, "value")
		}
		if signed {
			return uint64(int64(v<<(64-size)) >> (64 - size))
		}
		return v
	}
	if !ok {
		t.Fatalf("no size of %s", kind)
	}
	if rapid.Bool().Draw(t, "small") {
		return rapid.Uint64Range(0, 5).Draw(t, kind)
	}
	return rapid.Uint64().Draw(t, kind) >> (64 - size)
}

// textGen draws texts, also such as are no UTF-8.
var textGen = rapid.OneOf(rapid.StringMatching(`[ -~äß€]{0,20}`),
	rapid.Map(rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 8), func(b []byte) string { return string(b) }))

// drawRecord draws a record of a kind, but for the location and the time of an event.
func drawRecord(t *rapid.T, k *Kind) *Record {
	r := &Record{Kind: k}
	draw := func(fields []Field) {
		for _, f := range fields {
			before := uint64(0)
			if len(r.Values) > 0 {
				before = r.Values[len(r.Values)-1]
			}
			r.Values = append(r.Values, drawValue(t, f.Type, before))
		}
	}
	draw(k.Fields)
	for range k.Texts {
		r.Texts = append(r.Texts, textGen.Draw(t, "text"))
	}
	if k.List != nil {
		for range rapid.IntRange(0, 4).Draw(t, "rows") {
			draw(k.List)
		}
	}
	return r
}

// drawArchive draws the records of an archive, in the order in which they are read.
func drawArchive(t *rapid.T, mayGoBack bool) []*Record {
	record := func(name string, values ...uint64) *Record { return &Record{Kind: LookupKind(name), Values: values} }
	all := []*Record{record("ChunkSizes", 1<<18+rapid.Uint64Range(0, 3).Draw(t, "chunk")<<18, 1<<20)}
	for _, name := range []string{"Creator", "MachineName", "Description"} {
		all = append(all, drawRecord(t, LookupKind(name)))
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "properties") {
		r := drawRecord(t, LookupKind("Property"))
		r.Texts[0] = fmt.Sprintf("TEST::%d", i) // such names only
		r.Texts[1] += "."                       // one that is empty is not kept
		all = append(all, r)
	}
	var definitions, events, markers []*Kind
	for _, k := range theTable().kinds[firstKind:] {
		switch {
		case k.Class == Definition && k.Name != "Location":
			definitions = append(definitions, k)
		case k.Class == Event:
			events = append(events, k)
		case k.Class == Marker:
			markers = append(markers, k)
		}
	}
	for range rapid.IntRange(0, 30).Draw(t, "definitions") {
		all = append(all, drawRecord(t, rapid.SampledFrom(definitions).Draw(t, "kind")))
	}
	if rapid.Bool().Draw(t, "clock") {
		all = append(all, record("ClockProperties", rapid.SampledFrom([]uint64{1, 3, 1e9, 1e12}).Draw(t, "resolution"),
			rapid.Uint64Range(0, 1000).Draw(t, "offset"), 1<<50, math.MaxUint64))
	}
	locations := rapid.SliceOfNDistinct(rapid.Uint64Range(0, math.MaxUint64-1), 0, 3, rapid.ID).Draw(t, "locations")
	for _, l := range locations {
		r := drawRecord(t, LookupKind("Location"))
		r.Values[0] = l
		all = append(all, r)
	}
	for range rapid.IntRange(0, 3).Draw(t, "markers") {
		all = append(all, drawRecord(t, rapid.SampledFrom(markers).Draw(t, "kind")))
	}
	backward := mayGoBack && rapid.IntRange(0, 3).Draw(t, "backward") == 0
	for _, l := range locations {
		time := rapid.Uint64Range(0, 1<<50).Draw(t, "begin")
		for range rapid.IntRange(0, 30).Draw(t, "events") {
			r := drawRecord(t, rapid.SampledFrom(events).Draw(t, "kind"))
			time += rapid.Uint64Range(0, 1000).Draw(t, "step")
			if backward && time > 0 {
				time -= rapid.Uint64Range(0, min(time, 2000)).Draw(t, "back")
			}
			r.Location, r.Time = l, time
			for i := range rapid.IntRange(0, 2).Draw(t, "attributes") {
				kind := rapid.Uint64Range(1, 25).Draw(t, "type")
				r.Attributes = append(r.Attributes, Attribute{uint32(i), uint8(kind),
					drawValue(t, "AttributeValue", kind)})
			}
			all = append(all, r)
		}
	}
	return all
}

// must fails a test at an error.
func must(t interface{ Fatal(...any) }, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// write writes records to an archive.
func write(t *rapid.T, o Options, directory string, records []*Record) {
	w, err := NewWriter(t.Context(), directory, o)
	must(t, err)
	for _, r := range records {
		must(t, w.Write(r))
	}
	must(t, w.Close())
}

// readAll returns copies of all records of an archive.
func readAll(t *rapid.T, o Options, directory string) []*Record {
	r, err := Open(t.Context(), directory, o)
	must(t, err)
	var all []*Record
	for {
		c, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		all = append(all, &Record{c.Kind, c.Location, c.Time, slices.Clone(c.Values), slices.Clone(c.Texts),
			slices.Clone(c.Attributes)})
	}
}

// mismatched is what otf2-print says of bytes that it does not know.
var mismatched = regexp.MustCompile("TYPE MISMATCH <[0-9]+>")

// printed returns what otf2-print says of an archive, but for its random number. It refuses some that OTF2's
// library writes and reads. References to what is not there may crash it: then the same archive crashes it again,
// after as much of its text as it had written by then, which is not always the same.
func printed(t *rapid.T, directory string) string {
	out, err := exec.CommandContext(t.Context(), "otf2-print", "-A", filepath.Join(directory, "traces.otf2")).Output()
	exit := (*exec.ExitError)(nil)
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil && !exit.Exited() {
		return exit.String()
	}
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(string(out))), func(line string) bool {
		return strings.HasPrefix(line, "Trace identifier")
	})
	return fmt.Sprint(mismatched.ReplaceAllString(strings.Join(lines, ""), "TYPE MISMATCH"), err)
}

// differ fails a test where records are not the same.
func differ(t *rapid.T, got, want []*Record) {
	for i := range min(len(got), len(want)) {
		if g, w := got[i], want[i]; !g.equal(w) {
			t.Fatalf("record %d is %v, not %v", i, g, w)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d records, not %d", len(got), len(want))
	}
}

// TestRoundTrip writes random records of all kinds, reads them, and writes them again.
func TestRoundTrip(t *testing.T) {
	o := options(t)
	directory := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		first := filepath.Join(directory, fmt.Sprintf("%d-first", n))
		second := filepath.Join(directory, fmt.Sprintf("%d-second", n))
		defer os.RemoveAll(first)
		defer os.RemoveAll(second)
		records := drawArchive(t, false)
		write(t, o, first, records)
		read := readAll(t, o, first)
		differ(t, read, records)
		write(t, o, second, read)
		if a, b := printed(t, first), printed(t, second); a != b {
			t.Fatalf("otf2-print says\n%s\nand not\n%s", b, a)
		}
	})
}
