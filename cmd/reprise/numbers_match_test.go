package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
)

// near reports whether a number is another, as far as it may be off, after rounding.
func near(got, want, off float64) bool { return math.Abs(got-want) <= off+0.5 }

// messagePairs returns the sends of a run with their receives: those of a channel in their order.
// Channels are sources, destinations, communicators and tags.
func (w truth) messagePairs(t *testing.T) (pairs [][2]*catCall, channels int) {
	t.Helper()
	sends, receives := make(map[string][]*catCall), make(map[string][]*catCall)
	for rank := range w.calls {
		for i := range w.calls[rank] {
			c := &w.calls[rank][i]
			switch c.Function {
			case "MPI_Send", "MPI_Isend":
				channel := fmt.Sprint(rank, c.number(t, "dest"), c.called("comm"), c.number(t, "tag"))
				sends[channel] = append(sends[channel], c)
			case "MPI_Recv", "MPI_Irecv":
				channel := fmt.Sprint(c.number(t, "source"), rank, c.called("comm"), c.number(t, "tag"))
				receives[channel] = append(receives[channel], c)
			}
		}
	}
	for channel, list := range sends {
		if len(list) != len(receives[channel]) {
			t.Fatalf("channel %s: %d sends, %d receives", channel, len(list), len(receives[channel]))
		}
		for i := range list {
			pairs = append(pairs, [2]*catCall{list[i], receives[channel][i]})
		}
	}
	return pairs, len(sends)
}

// collectives returns the collective operations by communicator, in their order: the call of
// each member.
func (w truth) collectives(t *testing.T) map[string][][]*catCall {
	t.Helper()
	all := make(map[string][][]*catCall)
	for rank := range w.calls {
		next := make(map[string]int)
		for i := range w.calls[rank] {
			c := &w.calls[rank][i]
			if !isCollective(c) {
				continue
			}
			name, _ := w.communicator(t, c)
			if next[name] == len(all[name]) {
				all[name] = append(all[name], nil)
			}
			all[name][next[name]] = append(all[name][next[name]], c)
			next[name]++
		}
	}
	return all
}

// A matchTruth is what match prints.
type matchTruth struct {
	Messages, Channels uint64
	Unmatched          []any
	Instances          []struct {
		Communicator string
		Instances    uint64
	} `json:"communicators"`
	Skews []skewTruth
}

type skewTruth struct {
	Communicator, Function string
	Root                   int
	Instances, Sampled     int
	Mean                   float64  `json:"mean_ns"`
	Median                 float64  `json:"median_ns"`
	Max                    float64  `json:"max_ns"`
	MaxInstance            int      `json:"max_instance"`
	MaxStraggler           int      `json:"max_straggler"`
	MaxPosition            uint64   `json:"max_position"`
	MaxStart               float64  `json:"max_start_ns"`
	RelativeError          float64  `json:"relative_error"`
	StartError             *float64 `json:"start_error_ns"`
	Straggler              int
	Share                  float64 `json:"straggler_share"`
}

// checkMatching compares what match tells: how much matches, and the skew of collective operations
// if the trace has the times of every call.
func checkMatching(t *testing.T, path string, w truth, exact, series bool) {
	t.Helper()
	var a matchTruth
	decodeJSON(t, &a, "match", "--json", path)
	pairs, channels := w.messagePairs(t)
	if a.Messages != uint64(len(pairs)) || a.Channels != uint64(channels) || len(a.Unmatched) > 0 {
		t.Errorf("match: %d messages on %d channels, %d unmatched; not %d on %d", a.Messages, a.Channels,
			len(a.Unmatched), len(pairs), channels)
	}
	operations, got := make(map[string]uint64), make(map[string]uint64)
	skewed := make(map[string][][]*catCall) // by function, root and communicator
	for name, list := range w.collectives(t) {
		operations[name] = uint64(len(list))
		for _, calls := range list {
			root := -1
			if calls[0].Function == "MPI_Bcast" {
				root = calls[0].number(t, "root")
			}
			key := fmt.Sprint(calls[0].Function, root, name)
			skewed[key] = append(skewed[key], calls)
		}
	}
	for _, i := range a.Instances {
		got[i.Communicator] = i.Instances
	}
	if !maps.Equal(got, operations) {
		t.Errorf("match: operations %v, not %v", got, operations)
	}
	if series != (len(a.Skews) > 0) || series && len(a.Skews) != len(skewed) {
		t.Errorf("match: %d skews, not %d", len(a.Skews), len(skewed))
	}
	for _, s := range a.Skews {
		switch {
		case s.StartError == nil || exact && *s.StartError > 0:
			t.Errorf("match: starts that are %v off", s.StartError)
		case exact:
			checkExactSkew(t, s, skewed[fmt.Sprint(s.Function, s.Root, s.Communicator)])
			fallthrough
		default:
			checkSkew(t, s, skewed[fmt.Sprint(s.Function, s.Root, s.Communicator)], *s.StartError)
		}
	}
}

// latest returns the call of those of an operation that begins last, of the lowest rank, and
// how much later than the first.
func latest(calls []*catCall) (last *catCall, width float64) {
	first := slices.MinFunc(calls, func(a, b *catCall) int { return cmp.Compare(a.Start, b.Start) })
	last = slices.MaxFunc(calls, func(a, b *catCall) int { return cmp.Compare(a.Start, b.Start) })
	return last, float64(last.Start - first.Start)
}

// checkSkew compares a skew with the starts of the calls of its operations, which may be off.
func checkSkew(t *testing.T, s skewTruth, operations [][]*catCall, off float64) {
	t.Helper()
	var widths []float64
	sum, found := 0.0, false
	for _, calls := range operations {
		last, width := latest(calls)
		widths, sum = append(widths, width), sum+width
		for _, c := range calls {
			if c.Rank == s.MaxStraggler && c.Position == s.MaxPosition {
				found = near(s.MaxStart, float64(c.Start), off) &&
					float64(c.Start) >= float64(last.Start)-2*off && near(s.Max, width, 2*off)
			}
		}
	}
	slices.Sort(widths)
	n := len(widths)
	if s.Instances != n || s.Sampled != n || !near(s.Mean, sum/float64(n), 2*off) ||
		!near(s.Median, widths[n/2], 2*off) || !near(s.Max, widths[n-1], 2*off) || !found {
		t.Errorf("skew %+v, of starts that are %.0f off; not %d with mean %.0f, median %.0f, max %.0f", s,
			off, n, sum/float64(n), widths[n/2], widths[n-1])
	}
}

// checkExactSkew compares the straggler of the largest skew, and who is last most often.
func checkExactSkew(t *testing.T, s skewTruth, operations [][]*catCall) {
	t.Helper()
	sum, most := 0.0, 0.0
	late := make(map[int]float64)
	for _, calls := range operations {
		last, width := latest(calls)
		sum, most = sum+width, max(most, width)
		late[last.Rank] += width
	}
	share := late[s.Straggler] / max(1, sum)
	for rank, of := range late {
		if of > late[s.Straggler] {
			t.Errorf("%s: rank %d is last more than rank %d", s.Function, rank, s.Straggler)
		}
	}
	if s.Max != most || math.Abs(share-s.Share) > 1e-9 {
		t.Errorf("skew %+v, not of at most %.0f, with a share of %f", s, most, share)
	}
}
