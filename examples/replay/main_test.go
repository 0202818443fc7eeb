package main

import (
	"strings"
	"testing"
)

func TestReplay(t *testing.T) {
	const want = `rank            ends        computes           sends           waits
   0    2.613335282s    1.675404908s              0s    937.930374ms
   1    2.608718953s    1.643452314s              0s    965.266639ms
   2    2.608758985s    2.608582914s              0s       176.071µs
   3    2.613425316s     1.61469068s              0s    998.734636ms
`
	var out strings.Builder
	run(&out, "../notebook/heat.rpz")
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", &out, want)
	}
}
