package main

import (
	"math"
	"testing"
)

func TestUnits(t *testing.T) {
	for _, tt := range []struct {
		ns   float64
		want string
	}{
		{0, "0 ns"}, {0.5, "0.50 ns"}, {7, "7 ns"}, {999, "999 ns"}, {999.4, "999 ns"}, {1000, "1.00 µs"}, {1254, "1.25 µs"}, {12_540, "12.5 µs"},
		{999_499, "999 µs"}, {999_500, "1.00 ms"}, {1.5e9, "1.50 s"}, {99.96e9, "100 s"}, {123456e9, "123,456 s"}, {-1500, "-1.50 µs"},
	} {
		if got := durationText(tt.ns); got != tt.want {
			t.Errorf("durationText(%v) = %q, want %q", tt.ns, got, tt.want)
		}
	}
	for _, tt := range []struct {
		n    uint64
		want string
	}{
		{0, "0 B"}, {999, "999 B"}, {1000, "1.00 kB"}, {1250, "1.25 kB"}, {999_499, "999 kB"}, {999_500, "1.00 MB"}, {15_740_655, "15.7 MB"},
		{math.MaxUint64 - 1, "18.4 EB"}, {math.MaxUint64, "≥ 18.4 EB"},
	} {
		if got := bytesText(tt.n); got != tt.want {
			t.Errorf("bytesText(%d) = %q, want %q", tt.n, got, tt.want)
		}
	}
}
