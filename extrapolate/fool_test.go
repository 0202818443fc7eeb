package extrapolate_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise"
	_ "github.com/reprise-trace/reprise/internal/fewchecks"
)

// TestRandom draws programs of loops and calls whose numbers are expressions of rank, ranks and iteration: what is
// not refused is what the program calls.
//
// Peers are no further away than a grid of the traces is wide: one column of 4 is like one column of 5 where there
// are 4.
func TestRandom(t *testing.T) { rapid.Check(t, testRandom) }

// A number of a program, of a rank, of the number of ranks, and of the iterations around.
type number func(p *process, i, j int) int

func drawNumber(t *rapid.T, label string) number {
	a, b := rapid.IntRange(1, 40).Draw(t, label+" a"), rapid.IntRange(0, 9).Draw(t, label+" b")
	switch rapid.IntRange(0, 15).Draw(t, label) {
	case 0:
		return func(p *process, i, j int) int { return a * p.n }
	case 1:
		return func(p *process, i, j int) int { return a * 512 / p.n }
	case 2:
		return func(p *process, i, j int) int { return a*p.rank + b }
	case 3:
		return func(p *process, i, j int) int { return a*p.columns + b }
	case 4:
		return func(p *process, i, j int) int { return a*i + b }
	case 5:
		return func(p *process, i, j int) int { return a * (i + 1) * p.n }
	case 6:
		return func(p *process, i, j int) int { return a*p.row + b*p.column }
	case 10:
		return func(p *process, i, j int) int { return a*p.n + b*p.rank }
	case 11:
		return func(p *process, i, j int) int { return a * p.rank % (b + 2) }
	case 12:
		return func(p *process, i, j int) int { return a * p.columns * p.rows / (b + 1) }
	}
	return func(p *process, i, j int) int { return a }
}

func drawPeer(t *rapid.T, label string) number {
	a := rapid.IntRange(1, 3).Draw(t, label+" a")
	switch rapid.IntRange(0, 11).Draw(t, label) {
	case 0:
		return func(p *process, i, j int) int { return (p.rank + a) % p.n }
	case 1:
		return func(p *process, i, j int) int { return p.near(1, 0) }
	case 2:
		return func(p *process, i, j int) int { return p.near(0, -1) }
	case 3:
		return func(p *process, i, j int) int { return p.near(1, 1) }
	case 4:
		return func(p *process, i, j int) int { return p.rank ^ 1 }
	case 5:
		return func(p *process, i, j int) int { return (p.rank + i + 1) % p.n }
	case 6:
		return func(p *process, i, j int) int { return p.n - 1 - p.rank }
	case 7:
		return func(p *process, i, j int) int { return p.n - 1 }
	case 8:
		return func(p *process, i, j int) int {
			if p.rank+a < p.n {
				return p.rank + a
			}
			return -1
		}
	case 9:
		return func(p *process, i, j int) int { return a * p.rank % p.n }
	case 10:
		return func(p *process, i, j int) int { return p.rank / 2 }
	}
	return func(p *process, i, j int) int { return 0 }
}

func drawBody(t *rapid.T, depth int) func(p *process, i, j int) {
	var steps []func(p *process, i, j int)
	for range rapid.IntRange(1, 3).Draw(t, "steps") {
		step := rapid.IntRange(0, 6).Draw(t, "step")
		switch {
		case step < 2 && depth < 1:
			trips, body := drawNumber(t, "trips"), drawBody(t, depth+1)
			steps = append(steps, func(p *process, i, j int) {
				for k := range trips(p, i, j) % 6 {
					body(p, k, i)
				}
			})
		case step == 2 && depth < 1:
			body := drawBody(t, depth+1)
			at := rapid.IntRange(0, 5).Draw(t, "where")
			steps = append(steps, func(p *process, i, j int) {
				if [...]bool{p.rank == 0, p.column > 0, p.row < p.rows-1, p.rank%2 == 0, p.rank > 3, p.rank == p.n/2}[at] {
					body(p, i, j)
				}
			})
		default:
			count, peer, tag := drawNumber(t, "count"), drawPeer(t, "peer"), rapid.IntRange(0, 2).Draw(t, "tag")
			steps = append(steps, func(p *process, i, j int) { p.send(count(p, i, j), peer(p, i, j), tag) })
		}
	}
	return func(p *process, i, j int) {
		for _, step := range steps {
			step(p, i, j)
		}
	}
}

func testRandom(t *rapid.T) {
	body := drawBody(t, 0)
	program := func(p *process) {
		p.grid()
		body(p, 0, 0)
	}
	numbers := rapid.SampledFrom([][]int{{4, 8, 16, 32}, {4, 9, 16, 25}}).Draw(t, "numbers")
	last := len(numbers) - 1
	var traces []*reprise.Trace
	for _, n := range numbers[:last] {
		traces = append(traces, run(t, n, program))
	}
	got, _, err := extrapolated(t, traces, numbers[last])
	if err != nil {
		return
	}
	if d := difference(t, got, run(t, numbers[last], program)); d != "" {
		t.Fatal(d)
	}
}
