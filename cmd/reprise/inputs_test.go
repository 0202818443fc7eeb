package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// ring returns the lines of ranks that send to the next rank n times and add up
// something after every tenth time, rank by rank.
func ring(ranks, n int) []string {
	var lines []string
	for r := range ranks {
		lines = append(lines, fmt.Sprintf("%d init\n", r))
		for i := range n {
			lines = append(lines, fmt.Sprintf("%d send %d 0 8 1\n", r, (r+1)%ranks))
			lines = append(lines, fmt.Sprintf("%d recv %d 0 8 1\n", r, (r+ranks-1)%ranks))
			if i%10 == 9 {
				lines = append(lines, fmt.Sprintf("%d allreduce 1 0 0 \n", r))
			}
		}
		lines = append(lines, fmt.Sprintf("%d finalize\n", r))
	}
	return lines
}

// interleave returns the lines of equally many calls of each rank with the ranks
// taking turns.
func interleave(lines []string, ranks int) []string {
	var mixed []string
	each := len(lines) / ranks
	for i := range each {
		for r := range ranks {
			mixed = append(mixed, lines[r*each+i])
		}
	}
	return mixed
}

// noisy returns the lines of ranks of which the even ones wait for each other, and
// the odd ones compute, each something else, rank by rank: what they compute is
// in a section of its own if there are some hundred ranks.
func noisy(ranks int) []string {
	var lines []string
	for r := range ranks {
		lines = append(lines, fmt.Sprintf("%d init\n", r))
		for i := range 2 {
			if r%2 == 0 {
				lines = append(lines, fmt.Sprintf("%d barrier\n", r))
			} else {
				lines = append(lines, fmt.Sprintf("%d compute %d\n", r, uint32(r+i)*2654435761))
			}
		}
		lines = append(lines, fmt.Sprintf("%d finalize\n", r))
	}
	return lines
}

// random returns the lines of 4 ranks, each of which sends 200 messages of random lengths to random
// others.
func random() []string {
	const ranks, rounds = 4, 200
	r := rand.New(rand.NewPCG(1, 1))
	calls := make([][]string, ranks)
	for range rounds {
		distance := 1 + r.IntN(ranks-1)
		for rank := range ranks {
			peer, length := (rank+distance)%ranks, 1+r.IntN(100_000)
			calls[rank] = append(calls[rank], fmt.Sprintf("%d isend %d 0 %d 1\n", rank, peer, length))
			calls[peer] = append(calls[peer], fmt.Sprintf("%d recv %d 0 %d 1\n", peer, rank, length))
		}
	}
	var lines []string
	for rank, own := range calls {
		lines = append(lines, fmt.Sprintf("%d init\n", rank))
		lines = append(lines, own...)
		lines = append(lines, fmt.Sprintf("%d waitall %d\n", rank, rounds), fmt.Sprintf("%d finalize\n", rank))
	}
	return lines
}

// nested returns a trace of one rank with loops in loops, one of them in two
// places.
func nested() string {
	var b strings.Builder
	inner := strings.Repeat("0 isend 0 1 1 1\n0 wait 0 0 1\n", 20) + "0 barrier\n"
	b.WriteString("0 init\n")
	for range 30 {
		b.WriteString(strings.Repeat(inner, 5) + "0 allreduce 2 0 0 \n")
	}
	b.WriteString("0 bcast 1 0 1 \n" + strings.Repeat(inner, 3) + "0 finalize\n")
	return b.String()
}

// uneven returns a trace of ranks that are of one program, each with another trip count and other
// optional calls.
func uneven(ranks int) string {
	var b strings.Builder
	line := func(r int, format string, args ...any) {
		fmt.Fprintf(&b, "%d "+format+"\n", append([]any{r}, args...)...)
	}
	for r := range ranks {
		line(r, "init")
		for range 50 + r {
			line(r, "send %d 0 8 1", (r+1)%ranks)
			line(r, "recv %d 0 8 1", (r+ranks-1)%ranks)
			line(r, "allreduce 1 0 0 ")
		}
		if r > 0 {
			line(r, "gather 1 1 0 1 1")
		}
		for i := range 30 {
			line(r, "bcast 4 0 1 ")
			for range (i*i*i*31 + i*57 + r*r*17) % 97 % 11 / 4 {
				line(r, "compute 100")
			}
			line(r, "barrier")
		}
		line(r, "finalize")
	}
	return b.String()
}

const noisyRanks = 600

// inputs is what writeInputs wrote the first time, by name.
var inputs map[string]string

// writeInputs writes traces into the current directory, and what else a command
// may be given. A ring has 4 ranks of 212 calls.
func writeInputs(t testing.TB) {
	t.Helper()
	for name, content := range inputs {
		writeFile(t, name, content)
	}
	if inputs != nil {
		return
	}
	makeInputs(t)
	inputs = make(map[string]string)
	for _, name := range strings.Fields(fileNames(t)) {
		inputs[name] = readFile(t, name)
	}
}

func makeInputs(t testing.TB) {
	t.Helper()
	lines := ring(4, 100)
	mixed := interleave(lines, 4)
	text := func(parts ...[]string) string { return strings.Join(slices.Concat(parts...), "") }
	for name, content := range map[string]string{
		"ring.txt":    text(lines),
		"mixed.txt":   text(mixed),
		"long.txt":    text(ring(2, 5000)),
		"one.txt":     text(ring(1, 3)),
		"empty.txt":   "",
		"sparse.txt":  "5 init\n5 compute 1.5\n5 finalize\n",
		"foreign.txt": "# made by hand\n0 init\n0 dance 1  2\n\n0 send  1\nnonsense\n0 finalize",
		"binary.txt":  "0 init\n0 \x00\n",
		"list.txt":    "ring.txt\n",
		"dos.txt":     "0 init\r\n0 finalize\r\n",
		"doubled.txt": strings.Repeat("0 init\n0 finalize\n", 2),
		"ring.xz":     "\xfd7zXZ\x00\x00\x04",
		"ring.bz2":    "BZh91AY&SY\x01",
		"longs.txt":   "long.txt\n",
		"far.txt":     "16777215 init\n16777215 finalize\n",
		"beyond.txt":  "0 init\n16777216 init\n",
		"nested.txt":  nested(),
		"random.txt":  text(random()),
		"uneven.txt":  uneven(16),

		"noisy.txt":       text(noisy(noisyRanks)),
		"noisy-mixed.txt": text(interleave(noisy(noisyRanks), noisyRanks)),
		"even.txt":        text(lines[:212], lines[424:636]),
		"odd.txt":         text(lines[212:424], lines[636:]),

		"unmatched.txt": "0 init\n0 send 1 7 3 1\n0 send 1 7 3 1\n0 send 1 8 3 1\n0 bcast 1 0 1 \n0 finalize\n" +
			"1 init\n1 recv 0 7 3 1\n1 recv -333 9 3 1\n1 barrier\n1 finalize\n2 init\n2 bcast 1 0 1 \n2 finalize\n3 init\n3 finalize\n",

		"changed.txt":       text(lines[:431], []string{"2 send 3 0 9 1\n"}, lines[432:]),
		"last-missing.txt":  text(lines[:423], lines[424:]),
		"extra.txt":         text(lines[:212], []string{"0 barrier\n"}, lines[212:]),
		"extra-last.txt":    text(lines, []string{"3 barrier\n"}),
		"rank-missing.txt":  text(lines[:636]),
		"rank-extra.txt":    text(lines, []string{"4 init\n"}),
		"swapped.txt":       text(lines[:211], lines[212:213], lines[211:212], lines[213:]),
		"mixed-missing.txt": text(mixed[:98], mixed[99:]),
		"mixed-swapped.txt": text(mixed[:98], mixed[99:100], mixed[98:99], mixed[100:]),
	} {
		writeFile(t, name, content)
	}
	for _, name := range []string{"ring", "mixed", "long", "one", "sparse", "foreign", "nested", "uneven",
		"noisy", "noisy-mixed", "unmatched"} {
		if r := invoke(t, "", "compress", name+".txt", "-o", name+".rpz"); r.status != cli.ExitOK {
			t.Fatal(r.stderr)
		}
	}
	must(t, "compress", "--part", "even.txt", "-o", "even.part.rpz")
	must(t, "compress", "--part", "odd.txt", "-o", "odd.part.rpz")
	writeEmpty(t)
	writeTimed(t)
	writeScaling(t)
	writeRun(t, "killed.rpz", 1, 2)
	writeHang(t, "hung.rpz")
	writeRun(t, "survived.rpz", 2, 0)
	writeCodecs(t)
	writeDamaged(t)
	writeCompressed(t, text(lines))
	writeFile(t, "cut.gz", readFile(t, "ring.txt.gz")[:20])
}

// writeEmpty writes a trace without ranks, which compress refuses to make.
func writeEmpty(t testing.TB) {
	t.Helper()
	var b bytes.Buffer
	if err := merge.Write(&b, merge.Run{Source: simgrid.Source}, nil); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "empty.rpz", b.String())
}

// writeTimed writes traces of four ranks with times: timed.rpz with those of every
// call, timed-0.part.rpz and timed-1.part.rpz with the even and the odd ranks of it,
// summed.rpz with statistics alone, and untimed.rpz, which has lost the times of
// the last rank.
func writeTimed(t testing.TB) {
	t.Helper()
	bins, err := timing.NewExponential(0.1)
	if err != nil {
		t.Fatal(err)
	}
	send := cst.Function{Name: "send", Params: []cst.Param{{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
		{Name: "count", Type: cst.Type{Kind: cst.KindInt}}}}
	record := func(o tracer.Options, first, step int) (a merge.Accumulator) {
		if err := a.Describe(merge.Run{Source: "a clock"}); err != nil {
			t.Fatal(err)
		}
		for rank := first; rank < 4; rank += step {
			r, err := tracer.New(o)
			if err != nil {
				t.Fatal(err)
			}
			call, wait := r.Declare(send), r.Declare(cst.Function{Name: "wait"})
			now := int64(1_000_000_000)
			for i := range int64(50) {
				r.CallAt(call, now, 1000+i*i%17*10, cst.Rank(int64(rank+1)%4), cst.Int(64))
				r.CallAt(wait, now+3000, 20_000*int64(rank+1)+i)
				now += 100_000
			}
			if err := a.Add(r.Finish(rank)); err != nil {
				t.Fatal(err)
			}
		}
		return a
	}
	write := func(name string, file func(io.Writer) error) {
		var b bytes.Buffer
		if err := file(&b); err != nil {
			t.Fatal(err)
		}
		writeFile(t, name, b.String())
	}
	all := tracer.Options{Series: noError(timing.NewSeriesCodec(bins, bins, timing.Gaps))}
	timed, summed := record(all, 0, 1), record(tracer.Options{}, 0, 1)
	write("timed.rpz", timed.Write)
	write("summed.rpz", summed.Write)
	for i := range 2 {
		part := record(all, i, 2)
		write(fmt.Sprintf("timed-%d.part.rpz", i), part.WritePart)
	}
	writeFile(t, "untimed.rpz", flip(t, readFile(t, "timed.rpz"), layout.KindSeries, 1))
	writeFile(t, "unsummed.rpz", flip(t, readFile(t, "timed.rpz"), layout.KindSummaries, 0))
}

// writeRun writes a trace of an MPI program with the times of every call, exactly, of which
// the first of three ranks were killed before MPI_Finalize.
func writeRun(t testing.TB, name string, argc, killed int64) {
	t.Helper()
	param := func(name string, t cst.Type) cst.Param { return cst.Param{Name: name, Type: t} }
	number, comm := cst.Type{Kind: cst.KindInt}, cst.HandleOf("comm")
	exact := noError(timing.NewLossless(timing.LZ4))
	var a merge.Accumulator
	if err := a.Describe(merge.Run{Source: collect.Source, Ranks: 3}); err != nil {
		t.Fatal(err)
	}
	for rank := range int64(3) {
		r, err := tracer.New(tracer.Options{Series: noError(timing.NewSeriesCodec(exact, exact, timing.Gaps))})
		if err != nil {
			t.Fatal(err)
		}
		start, barrier := r.Declare(cst.Function{Name: "MPI_Init",
			Params: []cst.Param{param("argc", number)}}),
			r.Declare(cst.Function{Name: "MPI_Barrier", Params: []cst.Param{param("comm", comm)}})
		send := r.Declare(cst.Function{Name: "MPI_Send",
			Params: []cst.Param{param("count", number), param("datatype", cst.HandleOf("datatype")),
				param("dest", cst.Type{Kind: cst.KindRank}), param("tag", cst.Type{Kind: cst.KindTag}),
				param("comm", comm)}})
		end := r.Declare(cst.Function{Name: "MPI_Finalize"})
		now := 5_000_000 + rank
		r.CallAt(start, now, 1000, cst.Int(argc))
		for i := range int64(10) {
			now += 1_000_000
			r.CallAt(barrier, now+i%4*rank*7000, 500, cst.Handle(-3))
		}
		if rank == 0 {
			r.CallAt(send, now+100_000, 700, cst.Int(1), cst.Handle(-33), cst.Rank(1), cst.Tag(9), cst.Handle(-3))
		}
		if rank >= killed {
			r.CallAt(end, now+300_000, 700)
		}
		if err := a.Add(r.Finish(int(rank))); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, b.String())
}

// writeHang writes a trace of an MPI program that hung, without times: rank 1 waits for a tag
// that rank 0 did not send, the others for rank 1 in a barrier, and rank 4 computes.
func writeHang(t testing.TB, name string) {
	t.Helper()
	param := func(name string, t cst.Type) cst.Param { return cst.Param{Name: name, Type: t} }
	number, comm, returned := cst.Type{Kind: cst.KindInt}, cst.HandleOf("comm"), spec.InFlight.Param()
	message := func(peer string) []cst.Param {
		return []cst.Param{param("count", number), param("datatype", cst.HandleOf("datatype")),
			param(peer, cst.Type{Kind: cst.KindRank}), param("tag", cst.Type{Kind: cst.KindTag}), param("comm", comm)}
	}
	var a merge.Accumulator
	if err := a.Describe(merge.Run{Source: collect.Source, Ranks: 5}); err != nil {
		t.Fatal(err)
	}
	for rank := range int64(5) {
		var r tracer.Recorder
		r.Call(r.Declare(cst.Function{Name: "MPI_Init"}))
		switch rank {
		case 0:
			r.Call(r.Declare(cst.Function{Name: "MPI_Send", Params: message("dest")}), cst.Int(1),
				cst.Handle(-33), cst.Rank(1), cst.Tag(9), cst.Handle(-3))
		case 1:
			r.Call(r.Declare(cst.Function{Name: "MPI_Recv", Params: append(message("source"), returned)}),
				cst.Int(1), cst.Handle(-33), cst.Rank(0), cst.Tag(8), cst.Handle(-3), cst.Int(0))
		}
		if rank != 1 && rank != 4 {
			r.Call(r.Declare(cst.Function{Name: "MPI_Barrier",
				Params: []cst.Param{param("comm", comm), returned}}), cst.Handle(-3), cst.Int(0))
		}
		if err := a.Add(r.Finish(int(rank))); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, b.String())
}

// writeCodecs writes traces of six ranks whose times are noise: codecs.rpz, in which
// the even ones have their times in bins and the odd ones exact, with histograms by
// pair, and hole.rpz, in which a section of series is damaged.
func writeCodecs(t testing.TB) {
	t.Helper()
	bins, err := timing.NewExponential(0.05)
	if err != nil {
		t.Fatal(err)
	}
	lossless := noError(timing.NewLossless(timing.Zstd))
	codecs := []*timing.SeriesCodec{noError(timing.NewSeriesCodec(bins, bins, timing.Gaps)),
		noError(timing.NewSeriesCodec(lossless, lossless, timing.Gaps))}
	var a merge.Accumulator
	if err := a.Describe(merge.Run{Source: "a clock"}); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for rank := range 6 {
		r, err := tracer.New(tracer.Options{Series: codecs[rank%2],
			Histograms: &timing.HistogramOptions{PathSensitive: true}})
		if err != nil {
			t.Fatal(err)
		}
		put, get := r.Declare(cst.Function{Name: "put"}), r.Declare(cst.Function{Name: "get"})
		now := int64(0)
		for i := range 5_000 {
			took := random.Int64N(1 << 32)
			r.CallAt([]int{put, get}[i%2], now, took)
			now += took + random.Int64N(1<<31)
		}
		if err := a.Add(r.Finish(rank)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "codecs.rpz", b.String())
	writeFile(t, "hole.rpz", flip(t, b.String(), layout.KindSeries, 2))
}

// writeDamaged writes copies of ring.rpz, of a later version, and without what
// concerns all ranks; of noisy.rpz and noisy-mixed.rpz with damage to the odd
// ranks, and repaired; and of mixed.rpz, cut off in the order, with damage to the
// order, and without it.
func writeDamaged(t testing.TB) {
	t.Helper()
	whole := readFile(t, "ring.rpz")
	writeFile(t, "later.rpz", whole[:7]+"\x03"+whole[8:])
	writeFile(t, "beheaded.rpz", flip(t, whole, layout.KindRun, 0))
	for _, name := range []string{"", "-mixed"} {
		writeFile(t, "flipped"+name+".rpz", flip(t, readFile(t, "noisy"+name+".rpz"), layout.KindColumns, 0))
		must(t, "repair", "flipped"+name+".rpz", "-o", "lost"+name+".rpz")
	}
	mixed := records(t, readFile(t, "mixed.rpz"))
	writeFile(t, "cut.rpz", mixed[:section(t, mixed, layout.KindInterleaving, 0).Offset+4])
	writeFile(t, "disordered.rpz", flip(t, mixed, layout.KindInterleaving, 0))
	writeFile(t, "orderless.rpz", withoutKind(t, mixed, layout.KindInterleaving))
	writeFile(t, "flipped.part.rpz", flip(t, readFile(t, "odd.part.rpz"), layout.KindShape, 0))
}

// withoutKind returns a copy of a trace without the sections of a kind.
func withoutKind(t testing.TB, tr string, kind format.Kind) string {
	t.Helper()
	return without(t, tr, func(s format.Section) bool { return s.Kind == kind })
}

// without returns a copy of a trace without some sections.
func without(t testing.TB, tr string, drop func(format.Section) bool) string {
	t.Helper()
	r, err := format.NewReader(strings.NewReader(tr), int64(len(tr)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := format.NewWriter(&b, format.Options{})
	for _, s := range r.All() {
		content, err := r.Content(s)
		if err != nil {
			t.Fatal(err)
		}
		if !drop(s) {
			w.Add(s.Kind, s.Key, content)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// section returns a section of a trace.
func section(t testing.TB, tr string, kind format.Kind, key uint64) format.Section {
	t.Helper()
	r, err := format.NewReader(strings.NewReader(tr), int64(len(tr)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := r.Lookup(kind, key)
	if !ok {
		t.Fatalf("there is no section of kind %d and key %d", kind, key)
	}
	return s
}

// describedAs returns the calls of a trace as those of another run.
func describedAs(t testing.TB, tr *trace.Trace, run merge.Run) string {
	t.Helper()
	var a merge.Accumulator
	if err := a.Describe(run); err != nil {
		t.Fatal(err)
	}
	if err := tr.AddTo(t.Context(), &a); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

// records returns a copy of a trace with a record for each section, however small they are.
func records(t testing.TB, tr string) string {
	t.Helper()
	return string(testtrace.Records(t, []byte(tr)))
}

// flip returns a copy of a trace, with records, in which a bit of a section is changed.
func flip(t testing.TB, tr string, kind format.Kind, key uint64) string {
	t.Helper()
	return flipAt(t, tr, kind, key, func(s format.Section) int64 { return s.Offset + s.Size - 1 })
}

// flipHead is flip where the section begins: only the index has what it is.
func flipHead(t testing.TB, tr string, kind format.Kind, key uint64) string {
	t.Helper()
	return flipAt(t, tr, kind, key, func(s format.Section) int64 { return s.Offset })
}

func flipAt(t testing.TB, tr string, kind format.Kind, key uint64, at func(format.Section) int64) string {
	t.Helper()
	if tr[7] == format.Version {
		tr = records(t, tr)
	}
	data := []byte(tr)
	data[at(section(t, tr, kind, key))] ^= 1
	return string(data)
}

// writeCompressed writes ring.txt.gz and ring.txt.zst.
func writeCompressed(t testing.TB, text string) {
	t.Helper()
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write([]byte(text))
	w.Close()
	writeFile(t, "ring.txt.gz", gz.String())
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("ring.txt.zst", e.EncodeAll([]byte(text), nil), 0o666); err != nil {
		t.Fatal(err)
	}
}
