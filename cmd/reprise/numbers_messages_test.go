package main

import (
	"encoding/csv"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/rankenc"
)

// A volume is messages and blocks with their bytes.
type volume struct{ messages, bytes, blocks, exchanged uint64 }

func (v volume) plus(w volume) volume {
	return volume{v.messages + w.messages, v.bytes + w.bytes, v.blocks + w.blocks, v.exchanged + w.exchanged}
}

// sumOf returns the sum of volumes.
func sumOf[K comparable](all map[K]volume) (sum volume) {
	for _, v := range all {
		sum = sum.plus(v)
	}
	return sum
}

// A use is what is done on a communicator.
type use struct {
	ranks             map[int]bool
	calls, collective uint64
	sent, received    uint64
	members           int
	volume
}

// A traffic is what the calls of a run send, by pair of ranks, size and communicator.
type traffic struct {
	pairs map[[2]int]volume
	sizes map[uint64]uint64
	uses  map[string]*use
}

// bytesOf returns how many bytes so many of a datatype are.
func bytesOf(t *testing.T, c *catCall, datatype string, count int) uint64 {
	t.Helper()
	size := map[string]int{"MPI_CHAR": 1, "MPI_INT": 4, "MPI_DOUBLE": 8}[c.called(datatype)]
	if size == 0 {
		t.Fatalf("%s of %s", c.called(datatype), c.Function)
	}
	return uint64(count * size)
}

// communicator returns the name of the communicator of a call, and its members: of the run, or
// of the half that MPI_Comm_split made by colour. The second one made of the run is that of the
// file.
func (w truth) communicator(t *testing.T, c *catCall) (string, []int) {
	t.Helper()
	var everyone, half []int
	colour := make(map[int]int)
	for rank, calls := range w.calls {
		everyone = append(everyone, rank)
		for i := range calls {
			if calls[i].Function == "MPI_Comm_split" {
				colour[rank] = calls[i].number(t, "color")
			}
		}
	}
	for _, rank := range everyone {
		if colour[rank] == colour[c.Rank] {
			half = append(half, rank)
		}
	}
	switch {
	case c.Function == "MPI_File_close":
		return "world/1", everyone
	case c.called("comm") == "MPI_COMM_WORLD":
		return "world", everyone
	}
	return fmt.Sprintf("world/0:%d", colour[c.Rank]), half
}

// isCollective reports whether a call of the programs is a collective operation of a
// communicator that is known.
func isCollective(c *catCall) bool {
	return slices.Contains([]string{"MPI_Allreduce", "MPI_Bcast", "MPI_Alltoallv", "MPI_Comm_split",
		"MPI_Comm_free", "MPI_File_open", "MPI_File_close"}, c.Function)
}

// given returns what a call gives to each member of its communicator, itself included, and what
// it contributes and gets, all in bytes.
func given(t *testing.T, c *catCall, members []int) (each []uint64, sent, received uint64) {
	t.Helper()
	each = make([]uint64, len(members))
	switch c.Function {
	case "MPI_Allreduce":
		sent = bytesOf(t, c, "datatype", c.number(t, "count"))
		for i := range each {
			each[i] = sent
		}
		received = sent
	case "MPI_Bcast":
		if n := bytesOf(t, c, "datatype", c.number(t, "count")); c.Rank != members[c.number(t, "root")] {
			received = n
		} else {
			sent = n
			for i := range each {
				each[i] = n
			}
		}
	case "MPI_Alltoallv":
		var give, get []int
		c.value(t, "sendcounts", &give)
		c.value(t, "recvcounts", &get)
		for i := range each {
			each[i] = bytesOf(t, c, "sendtype", give[i])
			sent, received = sent+each[i], received+bytesOf(t, c, "recvtype", get[i])
		}
	}
	return each, sent, received
}

// traffic counts what the calls send.
func (w truth) traffic(t *testing.T) traffic {
	t.Helper()
	all := traffic{make(map[[2]int]volume), make(map[uint64]uint64), make(map[string]*use)}
	for rank := range w.calls {
		for i := range w.calls[rank] {
			c := &w.calls[rank][i]
			isSend := c.Function == "MPI_Send" || c.Function == "MPI_Isend"
			if !isSend && c.Function != "MPI_Recv" && c.Function != "MPI_Irecv" && !isCollective(c) {
				continue
			}
			name, members := w.communicator(t, c)
			u := all.uses[name]
			if u == nil {
				u = &use{ranks: make(map[int]bool), members: len(members)}
				all.uses[name] = u
			}
			u.ranks[rank] = true
			u.calls++
			if isSend {
				n := bytesOf(t, c, "datatype", c.number(t, "count"))
				pair := [2]int{rank, c.number(t, "dest")}
				all.pairs[pair] = all.pairs[pair].plus(volume{messages: 1, bytes: n})
				u.volume = u.plus(volume{messages: 1, bytes: n})
				all.sizes[n]++
			}
			if isCollective(c) {
				each, sent, received := given(t, c, members)
				u.collective, u.sent, u.received = u.collective+1, u.sent+sent, u.received+received
				for k, n := range each {
					if pair := [2]int{rank, members[k]}; n > 0 && pair[0] != pair[1] {
						all.pairs[pair] = all.pairs[pair].plus(volume{blocks: 1, exchanged: n})
						u.volume = u.plus(volume{blocks: 1, exchanged: n})
					}
				}
			}
		}
	}
	return all
}

// A volumeAnswer is a volume as messages prints it.
type volumeAnswer struct {
	Messages, Bytes uint64
	Exchanged       struct{ Blocks, Bytes uint64 }
}

func (v volumeAnswer) volume() volume {
	return volume{v.Messages, v.Bytes, v.Exchanged.Blocks, v.Exchanged.Bytes}
}

// checkTraffic compares what messages tells.
func checkTraffic(t *testing.T, path string, w truth) {
	t.Helper()
	want := w.traffic(t)
	var byPair struct {
		volumeAnswer
		Pairs []struct {
			From, To int
			volumeAnswer
		}
		Uniform []struct {
			From          rankenc.Set `json:"from_set"`
			To            rankenc.Set `json:"to_set"`
			Blocks, Bytes uint64
		} `json:"uniform_pairs"`
	}
	decodeJSON(t, &byPair, "messages", "--json", path)
	got := make(map[[2]int]volume)
	for _, p := range byPair.Pairs {
		got[[2]int{p.From, p.To}] = p.volume()
	}
	for _, u := range byPair.Uniform {
		for _, from := range u.From.All() {
			for _, to := range u.To.All() {
				if pair := [2]int{int(from), int(to)}; from != to {
					got[pair] = got[pair].plus(volume{blocks: u.Blocks, exchanged: u.Bytes})
				}
			}
		}
	}
	if !maps.Equal(got, want.pairs) || byPair.volume() != sumOf(want.pairs) {
		t.Errorf("messages: %v of %v, not %v", got, byPair.volumeAnswer, want.pairs)
	}
	checkSizes(t, path, want)
	checkUses(t, path, want)
}

// checkSizes compares what messages --by size tells: as JSON each size, and in the table classes
// of them.
func checkSizes(t *testing.T, path string, want traffic) {
	t.Helper()
	var bySize struct {
		volumeAnswer
		Sizes []struct {
			Bytes    uint64 `json:"message_bytes"`
			Messages uint64
		}
	}
	decodeJSON(t, &bySize, "messages", "--json", "--by", "size", path)
	got := make(map[uint64]uint64)
	for _, s := range bySize.Sizes {
		got[s.Bytes] = s.Messages
	}
	if !maps.Equal(got, want.sizes) || bySize.volume() != sumOf(want.pairs) {
		t.Errorf("messages --by size: %v, not %v", got, want.sizes)
	}
	classes := make(map[string]uint64) // by the smallest size
	var list []uint64
	for size, n := range want.sizes {
		classes[strconv.Itoa(1<<bits.Len64(size)>>1)] += n
		list = append(list, slices.Repeat([]uint64{size}, int(n))...)
	}
	slices.Sort(list)
	table := must(t, "messages", "--by", "size", path)
	if len(list) > 0 && !strings.Contains(table, fmt.Sprintf("\nmedian size: %d bytes\n", list[(len(list)-1)/2])) {
		t.Errorf("the median of %v is not in\n%s", want.sizes, table)
	}
	found := 0
	for _, line := range strings.Split(table, "\n") {
		if f := strings.Fields(line); len(f) > 5 && classes[f[0]] > 0 && f[2] == strconv.FormatUint(classes[f[0]], 10) {
			found++
		}
	}
	if found != len(classes) {
		t.Errorf("%d classes, not %v, in\n%s", found, classes, table)
	}
}

// checkUses compares what messages --by communicator tells.
func checkUses(t *testing.T, path string, want traffic) {
	t.Helper()
	var a struct {
		Communicators []struct {
			Communicator   string
			Members, Ranks int
			Calls          uint64
			volumeAnswer
			Collectives struct {
				Calls    uint64
				Sent     uint64 `json:"bytes_sent"`
				Received uint64 `json:"bytes_received"`
			}
		}
	}
	decodeJSON(t, &a, "messages", "--json", "--by", "communicator", path)
	if len(a.Communicators) != len(want.uses) {
		t.Errorf("%d communicators, not %d", len(a.Communicators), len(want.uses))
	}
	for _, got := range a.Communicators {
		u := want.uses[got.Communicator]
		if u == nil || got.Members != u.members || got.Ranks != len(u.ranks) || got.Calls != u.calls ||
			got.volume() != u.volume ||
			got.Collectives.Calls != u.collective || got.Collectives.Sent != u.sent ||
			got.Collectives.Received != u.received {
			t.Errorf("%+v, not %+v", got, u)
		}
	}
}

// checkMatrix compares the matrix of each kind.
func checkMatrix(t *testing.T, path string, w truth) {
	t.Helper()
	for kind, names := range map[string][]string{
		answer.KindP2P: {"messages", "bytes"}, answer.KindCollective: {"blocks", "exchanged_bytes"},
		answer.KindBoth: {"messages", "bytes", "blocks", "exchanged_bytes"},
	} {
		lines, err := csv.NewReader(
			strings.NewReader(must(t, "matrix", path, "--format", "csv", "--kind", kind, "-o", "-"))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[string]string)
		for pair, v := range w.traffic(t).pairs {
			values := map[string]uint64{"messages": v.messages, "bytes": v.bytes, "blocks": v.blocks,
				"exchanged_bytes": v.exchanged}
			text, some := "", false
			for _, name := range names {
				text, some = text+fmt.Sprintf(" %d", values[name]), some || values[name] > 0
			}
			if some {
				want[fmt.Sprintf("%d,%d", pair[0], pair[1])] = text
			}
		}
		got := make(map[string]string)
		for _, line := range lines[1:] {
			text := ""
			for _, name := range names {
				text += " " + line[slices.Index(lines[0], name)]
			}
			got[line[0]+","+line[1]] = text
		}
		if !maps.Equal(got, want) {
			t.Errorf("--kind %s: %v, not %v", kind, got, want)
		}
	}
}
