//go:build nightly

package main

import "testing"

// TestSpecialArgumentsAll runs all commands on traces with each special value of each parameter.
func TestSpecialArgumentsAll(t *testing.T) {
	for seed := range uint64(3) {
		testSpecial(t, 8, 1, seed)
	}
}
