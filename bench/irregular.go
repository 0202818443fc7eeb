package bench

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// An irregularProgram is one whose ranks make calls at random.
type irregularProgram struct {
	name  string
	ranks int
	calls int // of a rank, about

	// next returns a function that returns the next calls of a rank, by their argument.
	next func(random *rand.Rand) func() []int64
}

// irregularPrograms are programs that a grammar folds badly.
var irregularPrograms = []irregularProgram{
	{"64 signatures at random", 1, 1e5, uniformCalls(64)},
	{"10,000 signatures at random", 1, 1e5, uniformCalls(10_000)},
	{"few signatures often, many seldom", 1, 1e5, func(random *rand.Rand) func() []int64 {
		return func() []int64 { return []int64{int64(min(math.Pow(random.Float64(), -1/1.1), 5000))} }
	}},
	{"one of three after each", 1, 1e5, func(random *rand.Rand) func() []int64 {
		return markovCalls(random, 50, 3, 1)
	}},
	{"one of two after each pair", 1, 1e5, func(random *rand.Rand) func() []int64 {
		return markovCalls(random, 20, 2, 2)
	}},
	{"inner loop of 1 to 3 iterations", 1, 1e5, tripCalls},
	{"inner loop of 1 to 3 iterations", 16, 16_000, tripCalls},
	{"loops of 7 and 11 calls, interleaved", 1, 1e5, interleavedCalls},
	{"loop of 3,000 calls, 1 % others", 1, 1e5, noisyCalls(3000, 2000, 100)},
	{"loop of 20 calls, 0.1 % others", 1, 1e6, noisyCalls(20, 64, 1000)},
	{"loop of 20 calls, 0.1 % others", 1, 1e7, noisyCalls(20, 64, 1000)},
}

func uniformCalls(signatures int64) func(*rand.Rand) func() []int64 {
	return func(random *rand.Rand) func() []int64 {
		return func() []int64 { return []int64{random.Int64N(signatures)} }
	}
}

// markovCalls returns one of some calls after each of the last ones.
func markovCalls(random *rand.Rand, signatures int64, choices, order int) func() []int64 {
	last := make([]int64, order)
	following := make(map[string][]int64)
	return func() []int64 {
		key := fmt.Sprint(last)
		if following[key] == nil {
			for range choices {
				following[key] = append(following[key], random.Int64N(signatures))
			}
		}
		next := following[key][random.IntN(choices)]
		last = append(last[1:], next)
		return []int64{next}
	}
}

func tripCalls(random *rand.Rand) func() []int64 {
	return func() []int64 {
		calls := []int64{1, 2, 3}
		for range 1 + random.IntN(3) {
			calls = append(calls, 4, 5)
		}
		return append(calls, 6)
	}
}

// drawCalls returns a body of calls.
func drawCalls(random *rand.Rand, n int, signatures int64) []int64 {
	body := make([]int64, n)
	for i := range body {
		body[i] = random.Int64N(signatures)
	}
	return body
}

// interleavedCalls takes the next call of one of two loops.
func interleavedCalls(random *rand.Rand) func() []int64 {
	loops := [2][]int64{drawCalls(random, 7, 30), drawCalls(random, 11, 30)}
	for i := range loops[1] {
		loops[1][i] += 30
	}
	var at [2]int
	return func() []int64 {
		k := random.IntN(2)
		at[k]++
		return []int64{loops[k][at[k]%len(loops[k])]}
	}
}

// noisyCalls repeats a body of n calls, of which each is another one once in so many times.
func noisyCalls(n int, signatures int64, often int) func(*rand.Rand) func() []int64 {
	return func(random *rand.Rand) func() []int64 {
		body, at := drawCalls(random, n, signatures), -1
		return func() []int64 {
			at = (at + 1) % n
			if random.IntN(often) == 0 {
				return []int64{random.Int64N(signatures)}
			}
			return body[at : at+1]
		}
	}
}

// parts returns the parts of all ranks.
func (p irregularProgram) parts() []merge.Part {
	work := cst.Function{Name: "work", Params: []cst.Param{{Name: "amount", Type: cst.Type{Kind: cst.KindInt}}}}
	var parts []merge.Part
	for rank := range p.ranks {
		var table cst.Table
		var b sequitur.Builder
		next := p.next(rand.New(rand.NewPCG(1, uint64(rank))))
		for n := 0; n < p.calls; {
			for _, amount := range next() {
				b.Append(table.Intern(table.Declare(work), cst.Int(amount)))
				n++
			}
		}
		parts = append(parts, merge.Part{Rank: rank, Table: &table, Grammar: b.Finish()})
	}
	return parts
}

// reportIrregular reports what irregular sequences take in a trace, and what compressors make of the numbers
// of their signatures.
func reportIrregular(w io.Writer, dir string) error {
	heads(w, "program", "ranks", "calls", "signatures", "grammars, as such", "sequences in the file",
		"whole file", "xz -9e", "brotli -q 11", "zpaq -m5", "sequences / the best")
	for _, p := range irregularPrograms {
		if err := irregularRow(w, p.name, merge.Run{Ranks: p.ranks}, p.parts()); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	for _, t := range traces {
		if !strings.HasSuffix(t.name, ".compute") {
			continue
		}
		run, parts, err := t.record()
		if err != nil {
			return err
		}
		if err := irregularRow(w, t.name, run, parts); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

func irregularRow(w io.Writer, name string, run merge.Run, parts []merge.Part) error {
	var file bytes.Buffer
	if err := merge.Write(&file, run, parts); err != nil {
		return err
	}
	grammars := 0
	for _, p := range parts {
		b, err := p.Grammar.MarshalBinary()
		if err != nil {
			return err
		}
		grammars += len(b)
	}
	numbers, signatures := callNumbers(parts)
	sequences, err := sequenceBytes(file.Bytes())
	if err != nil {
		return err
	}
	best, cells := math.MaxInt, ""
	for _, compress := range []func([]byte) (int, error){
		func(data []byte) (int, error) { return compressedLen([]string{"xz", "-9e"}, data) },
		func(data []byte) (int, error) { return compressedLen([]string{"brotli", "-q", "11", "-w", "24"}, data) },
		zpaqLen,
	} {
		n, err := compress(numbers)
		switch {
		case errors.Is(err, exec.ErrNotFound):
			cells += "– | "
		case err != nil:
			return err
		default:
			best = min(best, n)
			cells += fmt.Sprintf("%d | ", n)
		}
	}
	ratio := "–"
	if best < math.MaxInt {
		ratio = fmt.Sprintf("%.3f", float64(sequences)/float64(best))
	}
	calls := uint64(0)
	for _, p := range parts {
		calls += p.Grammar.Len()
	}
	fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d | %s%s |\n", name, run.Ranks, calls, signatures,
		grammars, sequences, file.Len(), cells, ratio)
	return nil
}

// callNumbers returns the calls of all ranks, one rank after the other, each as the number of its function
// and arguments in the order of their text, in as few bytes as the largest takes, and how many these are.
func callNumbers(parts []merge.Part) (numbers []byte, signatures int) {
	texts := make([][]string, len(parts))
	number := make(map[string]int)
	for i, p := range parts {
		for terminal := range p.Table.Len() {
			fn, args := p.Table.Signature(uint32(terminal))
			text := fmt.Sprint(p.Table.Functions()[fn].Name, args)
			texts[i], number[text] = append(texts[i], text), 0
		}
	}
	for n, text := range slices.Sorted(maps.Keys(number)) {
		number[text] = n
	}
	for i, p := range parts {
		for _, s := range p.Grammar.AppendSymbols(nil) {
			n := uint32(number[texts[i][s]])
			switch {
			case len(number) <= 1<<8:
				numbers = append(numbers, byte(n))
			case len(number) <= 1<<16:
				numbers = binary.LittleEndian.AppendUint16(numbers, uint16(n))
			default:
				numbers = binary.LittleEndian.AppendUint32(numbers, n)
			}
		}
	}
	return numbers, len(number)
}

// sequenceBytes returns what grammars and streams take in a trace.
func sequenceBytes(file []byte) (int64, error) {
	t, err := open(file)
	if err != nil {
		return 0, err
	}
	n := int64(0)
	for _, s := range t.Sections() {
		if s.Kind == layout.KindGrammars || s.Kind == layout.KindStreams {
			n += s.Size
		}
	}
	return n, nil
}

// zpaqLen returns the size of an archive of zpaq with data. The error wraps [exec.ErrNotFound] if it is not
// installed.
func zpaqLen(data []byte) (int, error) {
	dir, err := os.MkdirTemp("", "reprise-zpaq-*")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	in, archive := filepath.Join(dir, "numbers"), filepath.Join(dir, "archive.zpaq")
	if err := os.WriteFile(in, data, 0o600); err != nil {
		return 0, err
	}
	if err := exec.Command("zpaq", "a", archive, in, "-m5", "-t1").Run(); err != nil {
		return 0, fmt.Errorf("zpaq: %w", err)
	}
	info, err := os.Stat(archive)
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}
