package otf2

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
)

// feedRegions gives an importer so many regions, each of which is called once, at as many locations.
func feedRegions(g *importer, locations, regions int) error {
	var r Record
	take := func(kind string, at uint64, text string, values ...uint64) error {
		r = Record{Kind: LookupKind(kind), Time: at, Values: values}
		if len(r.Kind.Texts) > 0 {
			r.Texts = []string{text}
		}
		return g.take(&r, false)
	}
	err := take("ClockProperties", 0, "", 1_000_000_000, 0, 1<<40, 1<<63)
	for i := range uint64(regions) {
		if err = errors.Join(err, take("String", 0, fmt.Sprint("region ", i), i)); err == nil {
			err = take("Region", 0, "", i, i, i, i, 0, 0, 0, 0, 0, 0)
		}
	}
	for l := range uint64(locations) {
		err = errors.Join(err, take("LocationGroup", 0, "", l, 0, groupProcess, 0, 1<<32-1),
			take("Location", 0, "", l, 0, locationCPU, 0, l))
	}
	for l := range uint64(locations) {
		for i := range uint64(regions) {
			for k, kind := range []*Kind{enterKind, leaveKind} {
				r = Record{Kind: kind, Location: l, Time: 2*i + uint64(k), Values: []uint64{i}}
				if err == nil {
					err = g.take(&r, false)
				}
			}
		}
	}
	return err
}

// TestRegionMemory checks that an archive of many regions is refused only where it needs more memory than it may take,
// and what a region takes.
func TestRegionMemory(t *testing.T) {
	o := exactly(t, Options{})
	const regions = 40_000
	o.Memory = 48 << 20
	err := feedRegions(newImporter(&o), 1, regions)
	if e := new(format.MemoryError); !errors.As(err, &e) || !e.Grows || e.N >= regions || e.N < regions/2 {
		t.Errorf("%d regions: %v", regions, err)
	}
	o.Memory = 0
	live := func() int64 {
		for range 3 { // after which pools are empty
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	g := newImporter(&o)
	if err := feedRegions(g, 1, regions); err != nil {
		t.Fatal(err)
	}
	if n := (live() - before) / regions; n > 640 {
		t.Errorf("a region takes %d bytes until its location ends", n)
	}
	in, err := g.finish()
	must(t, err)
	must(t, merge.Write(io.Discard, in.Run, in.Parts))
}
