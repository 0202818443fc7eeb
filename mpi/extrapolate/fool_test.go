package extrapolate_test

import (
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/trace"
)

// TestFool checks that programs that look like others on few ranks are refused, and not extrapolated wrongly.
func TestFool(t *testing.T) {
	for _, tt := range []struct {
		name    string
		numbers []int
		program func(p *process)
	}{
		{"a third", []int{4, 8, 16, 32}, func(p *process) {
			for range p.n / 3 {
				p.send(1, (p.rank+1)%p.n, 0)
			}
		}},
		{"a third of them", []int{4, 8, 16, 32}, func(p *process) { p.send(p.n/3, (p.rank+1)%p.n, 0) }},
		{"a row up from rank 0", []int{4, 8, 16}, func(p *process) {
			p.grid()
			if p.rank == 0 {
				p.send(p.n, p.near(0, -1), 0)
			}
		}},
		{"rows or columns", []int{4, 16, 32}, func(p *process) {
			p.grid()
			p.send(7, p.near(0, 1), 0)
		}},
		{"an extent less one, of two traces", []int{16, 36, 64}, func(p *process) { p.allreduce(2 * p.n / 9) }},
		{"ranks that are last, and even in no trace", []int{4, 16, 64, 9}, func(p *process) {
			if p.rank%2 == 0 {
				p.send(1, (p.rank+1)%p.n, 0)
			}
		}},
		{"the larger of two extents", []int{8, 16, 64, 32}, func(p *process) { p.allreduce(max(4, p.n/4)) }},
		{"the first rank of a row of three dimensions", []int{2, 4, 16, 64}, func(p *process) {
			p.send(1, p.rank-p.rank%balanced(p.n)[0], 0)
		}},
		{"a logarithm, or columns less one", []int{2, 6, 12, 36, 24}, func(p *process) {
			p.send(1, balanced(p.n)[0]-1, 0)
		}},
		{"columns and rows, or a product of their logarithms", []int{2, 6, 12, 36, 24}, func(p *process) {
			rows := 1
			for r := 1; r*r <= p.n; r++ {
				if p.n%r == 0 {
					rows = r
				}
			}
			p.send(4*(p.n/rows+rows), p.rank^1, 0)
		}},
		{"a row of three dimensions further", []int{4, 8, 32, 64}, func(p *process) {
			p.send(1, (p.rank+balanced(p.n)[0])%p.n, 0)
		}},
		{"a column back from the middle", []int{8, 16, 64, 32}, func(p *process) {
			p.grid()
			p.rows, p.columns = p.columns, p.rows
			p.row, p.column = p.rank/p.columns, p.rank%p.columns
			if p.rank == p.n/2 {
				p.send(1, p.near(-1, 0), 0)
			}
		}},
		{"twice a logarithm and one", []int{2, 6, 12, 36, 24}, func(p *process) { p.send(2*log2(p.n)+1, p.rank^1, 0) }},
		{"the rest for the last", []int{4, 8, 16, 32, 48}, func(p *process) {
			part := 1025 / p.n
			if p.rank == p.n-1 {
				part = 1025 - (p.n-1)*part
			}
			p.send(part, (p.rank+1)%p.n, 0)
		}},
		{"the rest for the last, of few ranks", []int{2, 3, 4, 5, 6}, func(p *process) {
			part := 1000 / p.n
			if p.rank == p.n-1 {
				part = 1000 - (p.n-1)*part
			}
			p.send(part, (p.rank+1)%p.n, 0)
		}},
		{"less for the last", []int{4, 8, 16, 32, 48}, func(p *process) {
			part := (1023 + p.n - 1) / p.n
			if p.rank == p.n-1 {
				part = 1023 - (p.n-1)*part
			}
			p.send(part, (p.rank+1)%p.n, 0)
		}},
		{"an iteration more, of two traces", []int{4, 25, 49}, func(p *process) {
			for i := range 16 { // as 4176-144*n+i
				p.send(14400/p.n+i, (p.rank+1)%p.n, 0)
			}
		}},
		{"two traces", []int{4, 16, 64}, func(p *process) { p.send(100*p.n, (p.rank+1)%p.n, 0) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var traces []*trace.Trace
			last := len(tt.numbers) - 1
			for _, n := range tt.numbers[:last] {
				traces = append(traces, run(t, n, tt.program))
			}
			got, r, err := extrapolated(t, traces, tt.numbers[last])
			if err != nil {
				return
			}
			if d := difference(t, got, run(t, tt.numbers[last], tt.program)); d != "" {
				t.Fatal(d, r.Fits)
			}
		})
	}
}

// TestNamed checks that the error of what no trace shows names the numbers that may depend on it.
func TestNamed(t *testing.T) {
	program := func(p *process) { // planes are 2 on all numbers of ranks but the last
		e := balanced(p.n)
		x, y, z := p.rank%e[0], p.rank/e[0]%e[1], p.rank/e[0]/e[1]
		for range 2 {
			p.send(2, (z*e[1]+y)*e[0]+(x+1)%e[0], 3)
			p.send(4, (z*e[1]+(y+1)%e[1])*e[0]+x, 3)
			p.send(5, ((z+1)%e[2]*e[1]+y)*e[0]+x, 3)
		}
	}
	var traces []*trace.Trace
	for _, n := range []int{8, 16, 32} {
		traces = append(traces, run(t, n, program))
	}
	_, _, err := extrapolated(t, traces, 64)
	for _, want := range []string{"2 in all traces, and 4 on 64 ranks: perhaps ", "count of MPI_Send",
		"iterations of the loop of MPI_Send", "; a trace of 128 ranks, too, would show more"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	if err != nil && strings.Contains(err.Error(), "tag of") {
		t.Errorf("the tag is not 2: %v", err)
	}
}
