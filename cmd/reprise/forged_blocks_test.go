package main

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/allocated"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/mixing"
	"github.com/reprise-trace/reprise/internal/test/forged"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// forgedBlocks returns a trace of ranks each with a shape of its own, whose grammar is in a block
// with the given bytes.
func forgedBlocks(t *testing.T, ranks int, block []byte) []byte {
	t.Helper()
	var parts []merge.Part
	for rank := range ranks {
		var r tracer.Recorder
		send := r.Declare(
			cst.Function{Name: "send", Params: []cst.Param{{Name: "destination", Type: cst.Type{Kind: cst.KindRank}}}})
		for range rank + 1 {
			r.Call(send, cst.Rank(0))
		}
		r.Call(send, cst.Rank(1))
		parts = append(parts, r.Finish(rank))
	}
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: ranks, Source: simgrid.Source}, parts); err != nil {
		t.Fatal(err)
	}
	return rewritten(t, file.Bytes(), func(w *format.Writer, s format.Section, content []byte) {
		switch {
		case s.Kind == layout.KindRun:
			at := 1 + 1 + len(simgrid.Source) // behind the number of ranks and the source
			content[at] |= layout.FlagBlocks
		case s.Kind == layout.KindGrammars && s.Key == 0:
			for key := 1; key < ranks; key++ {
				w.Add(s.Kind, uint64(key), block)
			}
			content = append(layout.AppendBlocks(nil, slices.Repeat([]int{1}, ranks)), block...)
		case s.Kind == layout.KindGrammars:
			return
		}
		w.Add(s.Kind, s.Key, content)
	})
}

// rewritten returns a sound file of what write makes of each section.
func rewritten(t *testing.T, file []byte, write func(w *format.Writer, s format.Section, content []byte)) []byte {
	t.Helper()
	out, err := forged.Rewritten(file, write)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// blockCommands are what is asked of a trace that was forged.
var blockCommands = strings.Split(strings.TrimSpace(`
info F
profile F
messages F
matrix F -o out.csv
match F
hang F
waits F
why F
efficiency F
diff F F
grammar F
grammar F --ranks 3
grammar F --shape 3
cat F --ranks 5 --count 10
cat F --first 1000000 --count 10
export F -o out.pb.gz
report F -o out.html
report F F -o out.html
repair F -o out.rpz`), "\n")

// checkBounded runs commands on a file, each of which must end in so much time of processors, and within 512
// MB, and without a panic.
func checkBounded(t *testing.T, commands []string, most time.Duration) {
	t.Helper()
	for _, command := range commands {
		runtime.GC()
		var bytes atomic.Uint64
		done := make(chan bool)
		go func() {
			for {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				bytes.Store(max(bytes.Load(), m.HeapInuse))
				select {
				case <-done:
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		}()
		begin := record.ProcessorTime()
		r := ask(t, strings.Fields(command)...)
		took := record.ProcessorTime() - begin
		close(done)
		if took > most || bytes.Load() > 512<<20 {
			t.Errorf("reprise %s: %v, %d MiB", command, took, bytes.Load()>>20)
		}
		if r.status != cli.ExitOK && r.status != cli.ExitFailure || r.status != cli.ExitOK && r.stderr == "" {
			t.Errorf("reprise %s: status %d, %s", command, r.status, r.stderr)
		}
	}
}

// TestHugeBlocks asks for all of a trace with blocks as large as there may be, a fifth of as many as
// there may be, which take 6 s: 30 s for all.
func TestHugeBlocks(t *testing.T) {
	if !tier.Nightly || slow > 1 {
		t.Skip("short: blocks that take long to read")
	}
	t.Chdir(t.TempDir())
	var b sequitur.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for range 250_000 {
		b.Append(sequitur.Symbol(r.IntN(2)))
	}
	blocks, ok := mixing.Append(context.Background(), nil, []mixing.Member{{Grammar: b.Finish()}},
		mixing.Plain(2), math.MaxInt, nil)
	if !ok {
		t.Fatal("no block")
	}
	writeFile(t, "F", string(forgedBlocks(t, layout.MaxBlocks/5, blocks[0])))
	checkBounded(t, blockCommands, 12*time.Second)
}

// TestManySymbols asks for traces whose blocks have more symbols together than memory has room for: what
// needs all of them is refused, with what allows it.
func TestManySymbols(t *testing.T) {
	const ranks, symbols = 8, 1000
	t.Chdir(t.TempDir())
	var b sequitur.Builder
	for i := range uint64(symbols) {
		b.AppendRun(sequitur.Symbol(i&1), 1+i/2) // which repeats nowhere
	}
	blocks, ok := mixing.Append(context.Background(), nil, []mixing.Member{{Grammar: b.Finish()}},
		mixing.Plain(2), math.MaxInt, nil)
	if !ok || len(blocks) != 1 {
		t.Fatal("no block")
	}
	writeFile(t, "F", string(forgedBlocks(t, ranks, blocks[0])))
	must(t, "info", "F")
	must(t, "grammar", "F", "--ranks", "7", "--memory", "1MiB")
	r := invoke(t, "", "info", "F", "--memory", "1MiB")
	if r.status != cli.ExitFailure || !strings.Contains(r.stderr, "symbols of grammars in blocks") ||
		!strings.Contains(r.stderr, "; --memory 2MiB allows it") {
		t.Errorf("%+v", r)
	}
}

// TestWrongBlock checks that a block that cannot be read is read once, not for each of its shapes.
func TestWrongBlock(t *testing.T) {
	const symbols = 10_000
	t.Chdir(t.TempDir())
	var b sequitur.Builder
	for i := range uint64(symbols) {
		b.AppendRun(sequitur.Symbol(i&1), 1+i/2)
	}
	blocks, ok := mixing.Append(context.Background(), nil, []mixing.Member{{Grammar: b.Finish()}},
		mixing.Plain(2), math.MaxInt, nil)
	if !ok {
		t.Fatal("no block")
	}
	file := rewritten(t, forgedBlocks(t, 2, blocks[0]), func(w *format.Writer, s format.Section, content []byte) {
		switch {
		case s.Kind == layout.KindGrammars && s.Key == 0:
			content = append(layout.AppendBlocks(nil, []int{2}), blocks[0]...) // which is of one
		case s.Kind == layout.KindGrammars:
			return
		}
		w.Add(s.Kind, s.Key, content)
	})
	tr, err := trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := tr.Rank(0); err != nil || r.Len() == 0 { // is before the place where it goes wrong
		t.Errorf("rank 0: %v", err)
	}
	for _, most := range []uint64{math.MaxUint64, 1 << 16} {
		var err error
		if got := allocated.By(1, func() { _, err = tr.Rank(1) }); !errors.Is(err, format.ErrCorrupt) || got > most {
			t.Errorf("rank 1: %d bytes, %v", got, err)
		}
	}
}

// TestMutatedBlocks asks for all of traces with bytes of their blocks changed, in files that are
// sound otherwise. Few can be read then, as a block must end with its bytes.
func TestMutatedBlocks(t *testing.T) {
	t.Chdir(t.TempDir())
	run, parts := testtrace.Nearly(t, 0, 20, testtrace.Statistics)
	file := testtrace.File(t, run, parts)
	mutations := 15
	if !tier.Nightly {
		mutations = 1
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range mutations {
		mutated := rewritten(t, file, func(w *format.Writer, s format.Section, content []byte) {
			if s.Kind == layout.KindGrammars {
				for range 1 + r.IntN(3) {
					content[r.IntN(len(content))] = byte(r.Uint32())
				}
				if r.IntN(8) == 0 {
					content = content[:r.IntN(len(content))]
				}
			}
			w.Add(s.Kind, s.Key, content)
		})
		writeFile(t, "F", string(mutated))
		checkBounded(t, blockCommands, 30*time.Second)
	}
}
