package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// writeRing writes the trace of a run of four ranks, which pass a message round
// and agree on a result every ten rounds.
func writeRing(w io.Writer) error {
	send := cst.Function{Name: "send", Params: []cst.Param{
		{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
		{Name: "bytes", Type: cst.Type{Kind: cst.KindInt}},
	}}
	reduce := cst.Function{Name: "reduce", Params: []cst.Param{{Name: "count", Type: cst.Type{Kind: cst.KindInt}}}}
	run := merge.Run{Ranks: 4, Source: "example"}
	var parts []merge.Part
	for rank := range run.Ranks {
		var r tracer.Recorder
		send, reduce := r.Declare(send), r.Declare(reduce)
		for range 50 {
			for range 10 {
				r.Call(send, cst.Rank(int64(rank+1)%4), cst.Int(64))
			}
			r.Call(reduce, cst.Int(1))
		}
		parts = append(parts, r.Finish(rank))
	}
	return merge.Write(w, run, parts)
}

// Count the calls of each function, without going through them.
func Example() {
	dir, err := os.MkdirTemp("", "reprise")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.rpz")
	f, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	if err := writeRing(f); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}

	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	calls := make(map[string]uint64)
	for _, number := range tr.RankSet().All() {
		rank, err := tr.Rank(number)
		if err != nil {
			log.Fatal(err)
		}
		for terminal, n := range rank.Occurrences() {
			calls[rank.Call(terminal).Function.Name] += n
		}
	}
	for _, f := range tr.Functions() {
		fmt.Println(calls[f.Name], f.Name)
	}
	// Output:
	// 200 reduce
	// 2000 send
}

// openRing opens the trace that writeRing writes.
func openRing() *trace.Trace {
	var file bytes.Buffer
	if err := writeRing(&file); err != nil {
		log.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return tr
}

// Walk through some calls of a rank, and see the loops they are in.
func ExampleRank_Calls() {
	tr := openRing()
	rank, err := tr.Rank(1)
	if err != nil {
		log.Fatal(err)
	}
	for call, err := range rank.Calls(8) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(call.Position, call)
		if call.Function.Name == "reduce" {
			break
		}
	}
	rank.Grammar().WriteText(os.Stdout, func(terminal uint32) string { return rank.Call(terminal).String() })
	// Output:
	// 8 send(dest=2, bytes=64)
	// 9 send(dest=2, bytes=64)
	// 10 reduce(count=1)
	// S → (send(dest=2, bytes=64)^10 reduce(count=1))^50
}

// Read the calls of all ranks from a position on.
func ExampleTrace_Calls() {
	tr := openRing()
	for call, err := range tr.Calls(2198) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("rank %d: %v\n", call.Rank, call)
	}
	// Output:
	// rank 3: send(dest=0, bytes=64)
	// rank 3: reduce(count=1)
}

// See what the ranks have in common: all send to the next. A generator of programs
// would write an expression where this prints it.
func ExampleShape() {
	tr := openRing()
	for number := range tr.Shapes() {
		shape, err := tr.Shape(number)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("ranks %v, %d calls each\n", shape.Ranks, shape.Grammar.Len())
		for terminal, n := range shape.Grammar.Occurrences() {
			signature := shape.Signature(int(terminal))
			fmt.Println(n, signature)
			for i, arg := range signature.Args {
				name := signature.Function.Params[i].Name
				if value, ok := arg.Constant(); ok {
					fmt.Printf("    %s constant: %v\n", name, value)
					continue
				}
				for _, v := range arg.Values {
					fmt.Printf("    %s %v: %v\n", name, v.Form, v.Expr)
				}
			}
		}
	}
	// Output:
	// ranks 0-3, 550 calls each
	// 500 send(dest=(rank+1) mod N, bytes=64)
	//     dest expression: (rank+1) mod N
	//     bytes constant: 64
	// 50 reduce(count=1)
	//     count constant: 1
}

// Write the calls of a rank as a program, from the typed arguments of its shape.
func ExampleArgument() {
	tr := openRing()
	shape, err := tr.Shape(0)
	if err != nil {
		log.Fatal(err)
	}
	for terminal := range shape.Grammar.Occurrences() {
		signature := shape.Signature(int(terminal))
		fmt.Print(signature.Function.Name)
		for i, arg := range signature.Args {
			fmt.Print(" ", signature.Function.Params[i].Name, "=")
			if value, ok := arg.Constant(); ok {
				fmt.Print(value)
				continue
			}
			switch v := arg.Values[0]; v.Form {
			case trace.Expression:
				fmt.Print(v.Expr) // of the rank
			case trace.Column:
				value, err := arg.At(3) // as each rank has it
				if err != nil {
					log.Fatal(err)
				}
				fmt.Print(value, " in rank 3")
			case trace.Stream:
				fmt.Print("one of ", arg.Stream()) // from call to call
			}
		}
		fmt.Println()
	}
	// Output:
	// send dest=(rank+1) mod N bytes=64
	// reduce count=1
}

// Go through some of the calls of a rank.
func ExampleRank_Select() {
	rank, err := openRing().Rank(2)
	if err != nil {
		log.Fatal(err)
	}
	reduce := func(c trace.Call) bool { return c.Function.Name == "reduce" }
	for call, err := range rank.Select(530, reduce) {
		if err != nil {
			log.Fatal(err)
		}
		position := call.Position
		fmt.Println(position, call)
	}
	// Output:
	// 538 reduce(count=1)
	// 549 reduce(count=1)
}

// The example of the README.
func Example_record() {
	send := cst.Function{Name: "MPI_Send", Params: []cst.Param{
		{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
	}}
	var parts []merge.Part
	for rank := range 4 {
		var r tracer.Recorder // one for each process
		fn := r.Declare(send)
		for range 1000 {
			r.Call(fn, cst.Int(512), cst.Rank(int64(rank+1)%4))
		}
		parts = append(parts, r.Finish(rank))
	}
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: 4, Source: "my tracer"}, parts); err != nil {
		log.Fatal(err)
	}

	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	rank, err := tr.Rank(2)
	if err != nil {
		log.Fatal(err)
	}
	for call, err := range rank.Calls(998) { // from anywhere, without what is before
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(call.Position, call)
	}
	// Output:
	// 998 MPI_Send(count=512, dest=3)
	// 999 MPI_Send(count=512, dest=3)
}

// Times in a trace: a relative error of at most a tenth for every duration and
// every gap between calls, and starts that do not drift.
func Example_times() {
	entropy, err := timing.NewEntropy(0.1)
	if err != nil {
		log.Fatal(err)
	}
	series, err := timing.NewSeriesCodec(entropy, entropy, timing.Gaps)
	if err != nil {
		log.Fatal(err)
	}
	r, err := tracer.New(tracer.Options{Series: series})
	if err != nil {
		log.Fatal(err)
	}
	read := r.Declare(
		cst.Function{Name: "read", Params: []cst.Param{{Name: "bytes", Type: cst.Type{Kind: cst.KindInt}}}})
	for i := range int64(100_000) {
		start, duration := 2_000*i, 700+i%13 // nanoseconds
		r.CallAt(read, start, duration, cst.Int(4096))
	}
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: 1, Source: "my tracer"}, []merge.Part{r.Finish(0)}); err != nil {
		log.Fatal(err)
	}

	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	rank, err := tr.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	for call, err := range rank.Calls(99_999) { // decodes one block
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(call.Position, call, call.Start, call.Duration)
	}
	durations, _, err := tr.Summaries() // statistics are always kept
	if err != nil {
		log.Fatal(err)
	}
	s := durations.Statistics[0]
	fmt.Printf("%d calls of %d to %d ns, %.1f on average\n", s.Count, s.Min, s.Max, s.Mean())

	for call, err := range tr.ByTime() { // of all ranks
		if errors.Is(err, trace.ErrUntimed) {
			log.Fatal("record with Options.Series: ", err)
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(call.Rank, call, call.Start)
		break
	}
	// Output:
	// 99999 read(bytes=4096) 199997885 685
	// 100000 calls of 700 to 712 ns, 706.0 on average
	// 0 read(bytes=4096) 0
}

// Say what of a file cannot be read, and go through the rest.
func ExampleTrace_Damage() {
	exact, err := timing.NewLossless(timing.Zstd)
	if err != nil {
		log.Fatal(err)
	}
	series, err := timing.NewSeriesCodec(exact, exact, timing.Gaps)
	if err != nil {
		log.Fatal(err)
	}
	var parts []merge.Part
	for rank := range 2 {
		r, err := tracer.New(tracer.Options{Series: series})
		if err != nil {
			log.Fatal(err)
		}
		step := r.Declare(cst.Function{Name: "step"})
		for i := range int64(10_000) {
			r.CallAt(step, 1000*i, i*i*i%99_991)
		}
		parts = append(parts, r.Finish(rank))
	}
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: 2, Source: "my tracer"}, parts); err != nil {
		log.Fatal(err)
	}
	data := file.Bytes()
	data[len(data)/2] ^= 1 // a flipped bit

	tr, err := trace.OpenReader(bytes.NewReader(data), int64(len(data)), trace.Options{LeaveOutDamage: true})
	if err != nil {
		log.Fatal(err) // what concerns the run as a whole is damaged
	}
	for _, d := range tr.Damage() {
		fmt.Printf("%s of ranks %v cannot be read\n", d.What, d.Ranks)
	}
	timed, _, err := tr.SeriesRanks()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the calls of ranks %v can be, and the times of %d ranks\n", tr.RankSet(), timed.Len())
	rank, err := tr.Rank(1) // without its times
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("rank", rank.Number(), "made", rank.Len(), "calls")
	// Output:
	// the times of every call of ranks 0-1 cannot be read
	// the calls of ranks 0-1 can be, and the times of 0 ranks
	// rank 1 made 10000 calls
}

// Write calls as people write them, with the names that the trace has for numbers.
func ExamplePrinter() {
	isend := cst.Function{Name: "MPI_Isend", Params: []cst.Param{
		{Name: "buf", Type: cst.Type{Kind: cst.KindPointer}},
		{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "datatype", Type: cst.HandleOf("datatype")},
		{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
		{Name: "comm", Type: cst.HandleOf("comm")},
		{Name: "request", Type: cst.HandleOf("request"), Direction: cst.Out},
	}}
	wait := cst.Function{Name: "MPI_Wait", Params: []cst.Param{
		{Name: "request", Type: cst.HandleOf("request"), Direction: cst.InOut},
		{Name: "status", Type: cst.Type{Kind: cst.KindStatus}, Direction: cst.Out},
	}}
	run := merge.Run{Ranks: 16, Names: []format.Name{
		{Kind: cst.KindHandle, Class: "comm", Value: -3, Name: "MPI_COMM_WORLD"},
		{Kind: cst.KindHandle, Class: "datatype", Value: -20, Name: "MPI_DOUBLE"},
	}}
	var parts []merge.Part
	for rank := range run.Ranks {
		var r tracer.Recorder
		buf, next, request := cst.PointerTo(cst.Pointer{Segment: 3, Displacement: 64}), int64(rank+1)%16, cst.Handle(0)
		r.Call(r.Declare(isend), buf, cst.Int(270), cst.Handle(-20), cst.Rank(next), cst.Handle(-3), request)
		r.Call(r.Declare(wait), request, cst.StatusOf(cst.Status{Source: 3, Tag: 7}))
		parts = append(parts, r.Finish(rank))
	}
	var file bytes.Buffer
	if err := merge.Write(&file, run, parts); err != nil {
		log.Fatal(err)
	}

	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	rank, err := tr.Rank(14)
	if err != nil {
		log.Fatal(err)
	}
	printer := tr.Printer(trace.PrintOptions{})
	var line []byte
	for call, err := range rank.Calls(0) {
		if err != nil {
			log.Fatal(err)
		}
		line = append(printer.AppendCall(line[:0], call), '\n')
		os.Stdout.Write(line)
	}
	// Output:
	// MPI_Isend(buf=heap#3+64, count=270, datatype=MPI_DOUBLE, dest=rank+1, comm=MPI_COMM_WORLD, request=isend#0)
	// MPI_Wait(request=isend#0, status={source=3, tag=7})
}

// An argument that advances from call to call is a progression.
func ExampleArgument_Progression() {
	var r tracer.Recorder
	write := r.Declare(
		cst.Function{Name: "write", Params: []cst.Param{{Name: "offset", Type: cst.Type{Kind: cst.KindInt}}}})
	for row := range 30 {
		for column := range 20 {
			r.Call(write, cst.Int(int64(4096*row+64*column)))
		}
	}
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: 1}, []merge.Part{r.Finish(0)}); err != nil {
		log.Fatal(err)
	}
	t, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	offset := t.Signature(0).Args[0]
	if p, ok := offset.Progression(0, 0); ok {
		fmt.Println(p.First, p.Loops, p.At(599))
	}
	fmt.Println(t.Signature(0))
	// Output:
	// 0 [{30 4096} {20 64}] 120000
	// write(offset=4096·i+64·j (i<30, j<20))
}
