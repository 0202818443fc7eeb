// Package otf2 writes archives of OTF2, the format of Score-P, for Vampir, Scalasca, otf2-print and all else that reads
// with OTF2's library. The library writes them: see package [archive].
//
// The file docs/exports.md says what is written.
//
// # Cost
//
// A rank is read at a time, twice: what is held grows with its signatures and its grammar, with the channels on
// which messages are sent, with the requests that are active, and with the texts of arguments up to a limit, not
// with the number of calls. The threads of a rank that has several go through a temporary file, as an archive has
// one file for each.
//
// # Source
//
// Names, roles and the order of events are those that Score-P 9 and the headers of OTF2 3.0 have.
package otf2

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/merge"
	archive "github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// Options choose calls of a trace, and say how OTF2's library is built in. The zero Options chooses all calls.
type Options struct {
	export.Options
	Bridge archive.Options
}

// A Summary says what was written.
type Summary struct {
	Events uint64

	// Messages are those that chosen calls send, and Omitted those among them of which there is no event: the trace
	// does not say to whom they go or on which communicator, or the receiver was not chosen.
	Messages, Omitted uint64

	// Unsized are messages and collective operations of which the trace does not say how many bytes they have. They
	// are written with 0.
	Unsized uint64

	// Reversed are messages that are received before they are sent, by more than the errors of times tell.
	Reversed uint64
}

// Write writes the calls of t that o chooses to a new archive in a directory, which must be empty if it is there. If
// it fails, or ctx is done, nothing is left. Its error wraps [archive.ErrNoLibrary] where OTF2's library is missing.
func Write(ctx context.Context, directory string, t *trace.Trace, o Options) (Summary, error) {
	need.That(t != nil, "export: no trace")
	choice, err := choose(ctx, t, o.Options)
	if err != nil {
		return Summary{}, err
	}
	writing, stop := context.WithCancel(ctx)
	defer stop()
	out, err := archive.NewWriter(writing, directory, o.Bridge)
	if err != nil {
		return Summary{}, err
	}
	defer choice.Close()
	w := newWriter(out, choice)
	if err := w.write(ctx); err != nil {
		stop()
		return Summary{}, errors.Join(err, leave(out))
	}
	return w.summary, out.Close()
}

// choose returns what o chooses, with what its calls mean.
func choose(ctx context.Context, t *trace.Trace, o export.Options) (*events.Trace, error) {
	loadTables()
	choice, err := events.Open(ctx, t, o)
	if err != nil {
		return nil, err
	}
	if err = choice.OrderMessages(false); err != nil {
		choice.Close()
	}
	return choice, err
}

// leave ends a Writer whose context is done, so that nothing is left; that is no error.
func leave(out *archive.Writer) error {
	if err := out.Close(); err != nil && !errors.Is(err, context.Canceled) {
		return nil // the one that came before says why
	}
	return nil
}

// A writer writes an archive.
type writer struct {
	*definitions
	choice  *events.Trace
	summary Summary

	ranks  rankenc.Set // that were chosen, whether or not they made calls
	dense  bool        // they are 0, 1 and so on
	part   bool        // only calls of some time were chosen
	groups []group     // of locations: one for each of ranks
	end    int64       // of the last call
}

// A group is a rank that made calls, or none.
type group struct {
	rank      int
	times     string // how exact they are
	locations []location
}

// A location is a thread.
type location struct {
	thread int32
	events uint64
}

func newWriter(out recordWriter, choice *events.Trace) *writer {
	c := choice.Choice()
	_, _, part, _ := c.Between()
	w := &writer{choice: choice, part: part, summary: Summary{Reversed: choice.Reversed()}, ranks: c.Ranks.Intersection(rankenc.World(c.Trace.Ranks()))}
	w.dense = w.ranks.Len() == c.Trace.Ranks() || w.ranks.Equal(rankenc.World(w.ranks.Len()))
	w.definitions = newDefinitions(out, w.indexOf)
	return w
}

// indexOf returns the number of a rank among those that were chosen; false if it was not.
func (w *writer) indexOf(rank int) (uint64, bool) {
	if w.dense {
		return uint64(rank), uint64(rank) < uint64(w.ranks.Len())
	}
	i, ok := w.ranks.Index(rank)
	return uint64(i), ok
}

// write writes all but the end of the archive. Definitions that need the number of events come last.
func (w *writer) write(ctx context.Context) error {
	if err := w.begin(); err != nil {
		return err
	}
	for _, rank := range w.ranks.All() {
		w.groups = append(w.groups, group{rank: rank})
	}
	for rank, err := range w.choice.Ranks() {
		if err != nil {
			return err
		}
		if err := w.rank(ctx, rank); err != nil {
			return err
		}
	}
	w.locations()
	w.definitions.finish()
	return w.definitions.err
}

// begin writes what is known of the run before any call is.
func (w *writer) begin() error {
	facts, err := w.choice.Choice().Run()
	if err != nil {
		return err
	}
	w.put(kinds.creator, nil, createdBy())
	var described []string
	for _, f := range facts {
		text := strings.Join(f.Values, "; ")
		switch f.Name {
		case "hosts":
			if len(f.Values) == 1 {
				w.put(kinds.machine, nil, plain(f.Values[0]))
			}
		case "program", "times":
			described = append(described, f.Name+": "+text)
		}
		w.put(kinds.property, nil, "REPRISE::"+strings.ToUpper(f.Name), plain(text))
	}
	w.put(kinds.description, nil, plain(strings.Join(described, "\n")))
	if functions := w.choice.Source().Functions(); events.AreActions(functions) ||
		slices.ContainsFunc(functions, func(f cst.Function) bool { return spec.Base(f.Name) != f.Name }) {
		w.defineMPI()
	}
	return w.definitions.err
}

// plain returns text without zero bytes, which the library takes for the end.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// createdBy returns what wrote the archive.
func createdBy() string {
	version := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
			if strings.HasPrefix(m.Path, "github.com/reprise-trace/reprise") && m.Version != "" &&
				m.Version != "(devel)" {
				version = " " + strings.TrimPrefix(m.Version, "v")
				break
			}
		}
	}
	return archive.Creator + version
}

// unknown is what OTF2 has for numbers that are not known: all bits are set.
const (
	unknown   = math.MaxUint64
	unknown32 = math.MaxUint32
)

// locations writes the system tree: the machine, its node if there is one, the ranks, and their threads.
func (w *writer) locations() {
	c := w.choice.Choice()
	hosts := c.Trace.Run().Origin.Hosts
	began := uint64(unknown)
	if at, err := c.Began(); err == nil && !at.IsZero() {
		began = uint64(at.UnixNano())
	}
	w.define(kinds.clock, 1_000_000_000, 0, uint64(w.end)+1, began)
	w.define(kinds.node, 0, w.text("machine"), w.text("machine"), unknown32)
	w.define(kinds.domain, 0, constants.machine)
	parent := uint64(0)
	if len(hosts) == 1 {
		parent = 1
		w.define(kinds.node, 1, w.text(hosts[0]), w.text("node"), 0)
		w.define(kinds.domain, 1, constants.sharedMemory)
	}
	process, times := "rank", w.text(archive.TimesProperty)
	if w.mpi {
		process = "MPI Rank"
	}
	for i, g := range w.groups {
		w.define(kinds.group, uint64(i), w.text(fmt.Sprint(process, " ", g.rank)), constants.process, parent,
			w.starterOf(c.Trace.Run(), g.rank))
		if g.times != "" {
			w.define(kinds.groupProperty, uint64(i), times, constants.typeString, w.text(g.times))
		}
	}
	for i, g := range w.groups {
		if len(g.locations) == 0 {
			g.locations = []location{{}} // the library wants one of each process
		}
		for k, l := range g.locations {
			name := "Master thread"
			if l.thread != 0 {
				name = fmt.Sprint("Thread ", l.thread)
			}
			w.define(kinds.location, locationID(i, k), w.text(name), constants.cpuThread, l.events, uint64(i))
		}
	}
	w.worldGroup(w.groups)
}

// starterOf returns the number of the process that started a rank by MPI_Comm_spawn, of those that were chosen.
func (w *writer) starterOf(run merge.Run, rank int) uint64 {
	if len(run.Worlds) == 0 {
		return unknown32
	}
	world, _, _ := run.WorldOf(rank)
	if i, ok := w.indexOf(run.Worlds[world].Parent); ok && world > 0 {
		return i
	}
	return unknown32
}

// locationID returns the number of the location of the k-th thread of the i-th rank, as Score-P has it.
func locationID(i, k int) uint64 { return uint64(k)<<32 | uint64(i) }
