package answers

import (
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/piecewise"
)

// TestClocks checks what is said of clocks.
func TestClocks(t *testing.T) {
	first, alone := format.Clock{Machine: "a"}, format.Clock{Machine: "d", Error: -1}
	even := format.Clock{Machine: "b", Error: 1560}
	pieces := format.Clock{Machine: "c", Error: 130_000, Errors: []int64{2000, 130_000},
		Later: []format.Alignment{{Offset: 1e9}}}
	older := format.Clock{Machine: "c", Error: 130_000, Later: []format.Alignment{{Offset: 1e9}}}
	misfit := format.Clock{Machine: "b", Error: 3_000_000, Early: 12}
	jumping := format.Clock{Machine: "b", Error: 5000, Jumps: piecewise.Jumps{{Since: 5, Ahead: 1500},
		{Since: 7, Ahead: 3700}}}
	wrong := format.Clock{Machine: "b", Error: 1560, Contradicted: true}
	const moved = "; that of 1 machine does not run evenly: its times are moved in pieces, which jump by 1.00 s at most"
	for _, tt := range []struct {
		list []format.Clock
		want string
	}{
		{[]format.Clock{first, even}, "of 2 machines, aligned to 1.56 µs"},
		{[]format.Clock{first, alone}, "of 2 machines, not aligned: no messages show their differences"},
		{[]format.Clock{first, even, alone}, "of 3 machines, 2 of them aligned to 1.56 µs"},
		{[]format.Clock{first, even, pieces}, "of 3 machines, aligned to 130 µs" + moved +
			"; the errors of its pieces are 2.00 µs to 130 µs"},
		{[]format.Clock{first, older}, "of 2 machines, aligned to 130 µs" + moved},
		{[]format.Clock{first, misfit},
			"of 2 machines, aligned to 3.00 ms; 12 messages still arrive before they are sent"},
		{[]format.Clock{first, jumping},
			"of 2 machines, aligned to 5.00 µs; times of 1 machine jump ahead 2 times, by 3.70 µs at most, so that messages arrive after they are sent"},
		{[]format.Clock{first, wrong},
			"of 2 machines, aligned to 1.56 µs; messages contradict the real time of 1 machine"},
	} {
		if got := Clocks(tt.list); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}
