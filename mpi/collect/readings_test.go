package collect

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
)

// TestMeasure checks that parts have the first reading of the clocks and the latest by the clock of the
// calls, with what the clocks of processes differ by, and none where nothing may be measured.
func TestMeasure(t *testing.T) {
	for _, tt := range []struct {
		name     string
		options  Options
		readings int
	}{
		{"live", Options{Machine: "a", Measure: true}, 2},
		{"later", Options{Machine: "a"}, 0},
		{"no machine", Options{Measure: true}, 0},
		{"untimed", Options{Machine: "a", Measure: true, Untimed: true}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			directory := t.TempDir()
			for rank := range 2 {
				w := newSpoolWriter(int32(rank), 0)
				w.id.Loaded += 7 * uint64(rank)
				binary.LittleEndian.PutUint64(w.data[16:], w.id.Loaded)
				w.check()
				w.call(10, "MPI_Barrier", world)
				w.write(t, directory)
			}
			c, err := New(directory, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if !tt.options.Measure && c.readings != nil {
				t.Errorf("read without need: %+v", c.readings)
			}
			c.readings = nil // of this machine
			now := int64(1_000)
			c.read = func() (clockReading, bool) {
				now += 500
				return clockReading{now, now + 70_000, 10}, now != 2_500
			}
			for range 4 { // the second is none
				c.measure()
			}
			a, _, err := c.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if tt.readings == 0 {
				for _, clock := range a.Clocks() {
					if clock.Readings != nil {
						t.Errorf("%+v", clock)
					}
				}
				return
			}
			list := c.ranked()
			base := list[0].since1970(list[0].threads[0], 0)
			middle := base + 3
			want := []format.ClockReading{{Time: middle + 1_500, Offset: 70_000 - middle, Error: 14},
				{Time: middle + now, Offset: 70_000 - middle, Error: 14}}
			clocks := a.Clocks()
			if len(clocks) != 1 || len(clocks[0].Readings) != 2 || clocks[0].Readings[0] != want[0] ||
				clocks[0].Readings[1] != want[1] {
				t.Errorf("%+v, want %+v", clocks, want)
			}
		})
	}
}

// TestReadClocks checks what is read of this machine: that real time is not known where nothing keeps it in
// step, and otherwise that it goes on.
func TestReadClocks(t *testing.T) {
	a, ok := readClocks()
	if !ok {
		t.Skip("the clock of this machine is not synchronised")
	}
	if b, ok := readClocks(); ok && b.monotonic < a.monotonic || a.error <= 0 {
		t.Errorf("%+v, then %+v", a, b)
	}
}

// TestMachines checks that ranks are of the machines that their records say, or of this one, and that
// readings are of this one alone.
func TestMachines(t *testing.T) {
	const this = "0000000000000007"
	for _, tt := range []struct {
		name     string
		machines []uint64
		options  Options
		want     []string // machine, ranks and number of readings
	}{
		{"this", []uint64{7, 7}, Options{Machine: this, Measure: true}, []string{this + " 0-1 2"}},
		{"another", []uint64{5, 5}, Options{Machine: this, Measure: true}, []string{"0000000000000005 0-1 0"}},
		{"several", []uint64{5, 7, 0, 5}, Options{Machine: this, Measure: true},
			[]string{"0000000000000005 0-3:3 0", this + " 1-2 2"}},
		{"older", []uint64{0, 0}, Options{Machine: this}, []string{this + " 0-1 0"}},
		{"unknown", []uint64{0, 1<<64 - 1}, Options{}, []string{"ffffffffffffffff 1 0"}},
		{"untimed", []uint64{5, 7}, Options{Machine: this, Untimed: true}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			directory := t.TempDir()
			for rank, machine := range tt.machines {
				w := newSpoolWriter(int32(rank), 0)
				binary.LittleEndian.PutUint64(w.data[offsetMachine:], machine)
				w.check()
				w.call(10, "MPI_Barrier", world)
				w.write(t, directory)
			}
			c, err := New(directory, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			c.readings, c.read = nil, func() (clockReading, bool) { return clockReading{1, 2, 3}, true }
			c.measure()
			a, _, err := c.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, clock := range a.Clocks() {
				got = append(got, fmt.Sprintf("%s %s %d", clock.Machine, clock.Ranks, len(clock.Readings)))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// TestReadingsApart checks that readings change nothing of a part but the section of clocks, and that they
// are all that differs there.
func TestReadingsApart(t *testing.T) {
	directory := t.TempDir()
	w := newSpoolWriter(0, 0)
	binary.LittleEndian.PutUint64(w.data[offsetMachine:], 7)
	w.check()
	w.call(10, "MPI_Barrier", world)
	w.write(t, directory)
	part := func(measure bool) (sections map[format.Section]string, clocks []format.Clock) {
		c, err := New(directory, Options{Machine: "0000000000000007", Measure: measure, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		c.readings, c.read = nil, func() (clockReading, bool) { return clockReading{1, 2, 3}, true }
		a, _, err := c.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := a.WritePart(&b); err != nil {
			t.Fatal(err)
		}
		r, err := format.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), format.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sections = make(map[format.Section]string)
		for _, s := range r.All() {
			content, err := r.Content(s)
			if err != nil {
				t.Fatal(err)
			}
			sections[format.Section{Kind: s.Kind, Key: s.Key}] = string(content)
		}
		return sections, a.Clocks()
	}
	live, liveClocks := part(true)
	later, laterClocks := part(false)
	if len(liveClocks) != 1 || len(liveClocks[0].Readings) == 0 || len(laterClocks) != 1 ||
		len(laterClocks[0].Readings) > 0 {
		t.Fatalf("%+v and %+v", liveClocks, laterClocks)
	}
	clocks := format.Section{Kind: layout.KindClocks}
	if live[clocks] == later[clocks] {
		t.Error("the same clocks")
	}
	delete(live, clocks)
	delete(later, clocks)
	if !maps.Equal(live, later) {
		t.Errorf("%q, want %q", live, later)
	}
	if liveClocks[0].Readings = nil; !reflect.DeepEqual(liveClocks, laterClocks) {
		t.Errorf("%+v, want %+v", liveClocks, laterClocks)
	}
}
