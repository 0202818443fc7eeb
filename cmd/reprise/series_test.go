package main

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/timing"
)

func TestGuaranteeText(t *testing.T) {
	for g, want := range map[timing.Guarantee]string{
		timing.Exact: "exact", 0.1: "at most 10 % off", 0.07: "at most 7 % off", 1e-4: "at most 0.01 % off",
	} {
		if got := text.Error(g); got != want {
			t.Errorf("%v is %q, want %q", g, got, want)
		}
	}
}
