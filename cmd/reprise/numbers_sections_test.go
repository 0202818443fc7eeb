package main

import (
	"fmt"
	"html"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/rankenc"
)

// A pageRow is a row of a table of the page: by the title of the column what stands in it, and the value by
// which it is sorted, which is NaN if there is none.
type pageRow struct {
	text  map[string]string
	value map[string]float64
}

var (
	pageTable = regexp.MustCompile(`(?s)<table.*?</table>`)
	pageTitle = regexp.MustCompile(`<th scope="col"[^>]*>([^<]*)</th>`)
	pageLine  = regexp.MustCompile(`<tr><td.*?</td></tr>`)
	pageCell  = regexp.MustCompile(`<td([^>]*)>(?:<code>)?(.*?)(?:</code>|<br>|</td>)`)
	pageValue = regexp.MustCompile(` data-value="([^"]*)"`)
)

// pageRows returns the rows of the table of a section that has a column of a title, and none if there is
// no such table.
func pageRows(t *testing.T, page, section, title string) (rows []pageRow) {
	t.Helper()
	_, rest, _ := strings.Cut(page, `<section id="`+section+`">`)
	part, _, _ := strings.Cut(rest, "</section>")
	for _, table := range pageTable.FindAllString(part, -1) {
		var titles []string
		for _, m := range pageTitle.FindAllStringSubmatch(table, -1) {
			titles = append(titles, html.UnescapeString(m[1]))
		}
		if !slices.Contains(titles, title) {
			continue
		}
		body, _, _ := strings.Cut(table, "<tfoot>")
		for _, line := range pageLine.FindAllString(body, -1) {
			row := pageRow{make(map[string]string), make(map[string]float64)}
			for i, m := range pageCell.FindAllStringSubmatch(line, -1) {
				if i >= len(titles) {
					t.Fatalf("%s: more cells than titles in %s", section, line)
				}
				row.text[titles[i]], row.value[titles[i]] = html.UnescapeString(m[2]), math.NaN()
				if v := pageValue.FindStringSubmatch(m[1]); v != nil {
					row.value[titles[i]], _ = strconv.ParseFloat(v[1], 64)
				}
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// has reports whether a row has numbers in columns.
func (r pageRow) has(numbers map[string]uint64) bool {
	for title, n := range numbers {
		if r.value[title] != float64(n) {
			return false
		}
	}
	return true
}

// checkSections compares the tables of the page of messages, communicators, matching and waits, and the
// matrix and the bars.
func checkSections(t *testing.T, path string, w truth, exact, series bool) {
	t.Helper()
	page := must(t, "report", path, "-o", "-")
	want := w.traffic(t)
	checkPageMatrix(t, page, want)
	checkPageSizes(t, page, want)
	checkPairRows(t, page, want)
	rows := pageRows(t, page, "communication", "Communicator")
	if len(rows) != len(want.uses) {
		t.Errorf("the page has %d communicators, not %d", len(rows), len(want.uses))
	}
	for _, r := range rows {
		u := want.uses[r.text["Communicator"]]
		if u == nil || !r.has(map[string]uint64{"Ranks": uint64(len(u.ranks)), "Calls": u.calls,
			"Messages": u.messages, "Bytes": u.bytes,
			"Collective calls": u.collective, "Bytes sent in them": u.sent, "Exchanged": u.exchanged}) {
			t.Errorf("the page has %+v, not %+v", r.value, u)
		}
	}
	checkSkewRows(t, page, path, series)
	checkWaitRows(t, page, path, w)
	checkEfficiency(t, page, path, w, exact, series)
	checkPageLoops(t, page, path, w, exact)
	if exact {
		checkPageIterations(t, page, w)
		checkPageLoad(t, page, w)
		checkSummary(t, page, w)
	}
}

// checkPageMatrix compares the matrix of the page: cells, and blocks that are the same for many ranks.
func checkPageMatrix(t *testing.T, page string, want traffic) {
	t.Helper()
	var data struct {
		Matrix struct {
			Ranks, Bins int
			Exchanged   bool
			Cells       []uint64
			Uniform     []struct {
				From, To      []int
				Bytes, Blocks uint64
			}
		}
	}
	pageJSON(t, page, &data)
	x := data.Matrix
	got, width := make(map[[2]int]volume), 4
	if x.Exchanged {
		width = 6
	}
	source, destination := 0, 0
	for cell := range slices.Chunk(x.Cells, width) {
		if cell[0] > 0 {
			source, destination = source+int(cell[0]), 0
		}
		destination += int(cell[1])
		v := volume{bytes: cell[2], messages: cell[3]}
		if x.Exchanged {
			v.exchanged, v.blocks = cell[4], cell[5]
		}
		got[[2]int{source, destination}] = v
	}
	ranks := func(ranges []int) (list []int) {
		for r := range slices.Chunk(ranges, 2) {
			for rank := r[0]; rank <= r[1]; rank++ {
				list = append(list, rank)
			}
		}
		return list
	}
	for _, u := range x.Uniform {
		for _, from := range ranks(u.From) {
			for _, to := range ranks(u.To) {
				if pair := [2]int{from, to}; from != to {
					got[pair] = got[pair].plus(volume{blocks: u.Blocks, exchanged: u.Bytes})
				}
			}
		}
	}
	if x.Ranks != x.Bins || !maps.Equal(got, want.pairs) {
		t.Errorf("the page has a matrix of %v, not %v", got, want.pairs)
	}
}

// checkPageSizes compares the table and the bars of sizes.
func checkPageSizes(t *testing.T, page string, want traffic) {
	t.Helper()
	got := make(map[uint64]uint64)
	for _, r := range pageRows(t, page, "sizes", "Size") {
		size := uint64(r.value["Size"])
		if got[size] = uint64(r.value["Messages"]); r.value["Bytes"] != float64(size*got[size]) {
			t.Errorf("the page has %+v", r)
		}
	}
	if !maps.Equal(got, want.sizes) {
		t.Errorf("the page has sizes %v, not %v", got, want.sizes)
	}
	var data struct {
		Sizes []struct{ Low, High, Messages, Bytes uint64 }
	}
	pageJSON(t, page, &data)
	all := volume{}
	for _, bar := range data.Sizes {
		sum := volume{}
		for size, n := range want.sizes {
			if bar.Low <= size && size <= bar.High {
				sum = sum.plus(volume{messages: n, bytes: n * size})
			}
		}
		if all = all.plus(sum); sum.messages != bar.Messages || sum.bytes != bar.Bytes {
			t.Errorf("the page has a bar %+v, not %+v", bar, sum)
		}
	}
	if sum := sumOf(want.pairs); all.messages != sum.messages || all.bytes != sum.bytes {
		t.Errorf("the bars of sizes have %+v of %+v", all, sum)
	}
}

// checkPairRows compares the table of pairs: messages of each, and the blocks of sets of
// them, which are no more than all.
func checkPairRows(t *testing.T, page string, want traffic) {
	t.Helper()
	sum := volume{}
	rows := pageRows(t, page, "communication", "Destination")
	for _, r := range rows {
		from, to := int(r.value["Source"]), int(r.value["Destination"])
		v := volume{uint64(r.value["Messages"]), uint64(r.value["Bytes"]), 0, 0}
		if _, ok := r.value["Blocks"]; ok {
			v.blocks, v.exchanged = uint64(r.value["Blocks"]), uint64(r.value["Exchanged"])
			if r.value["All bytes"] != float64(v.bytes+v.exchanged) {
				t.Errorf("the page has %+v", r)
			}
		}
		sum = sum.plus(v)
		if pair := want.pairs[[2]int{from, to}]; v.messages > 0 &&
			(v.messages != pair.messages || v.bytes != pair.bytes) {
			t.Errorf("the page has %+v from %d to %d, not %+v", v, from, to, pair)
		}
		if set, others, _ := strings.Cut(r.text["Destination"], "others of "); v.messages == 0 && set == "" {
			checkSetRow(t, r.text["Source"], others, v, want)
		}
	}
	if all := sumOf(want.pairs); len(rows) == 0 || sum.messages > all.messages || sum.blocks > all.blocks ||
		len(rows) < 10 && sum != all {
		t.Errorf("the table of pairs has %+v of %+v", sum, all)
	}
}

// checkSetRow compares blocks that each rank of a set gives to others: they are no more than
// all that these give them.
func checkSetRow(t *testing.T, from, to string, v volume, want traffic) {
	t.Helper()
	var sources, destinations rankenc.Set
	if sources.UnmarshalText([]byte(from)) != nil || destinations.UnmarshalText([]byte(to)) != nil {
		t.Fatalf("sets %s, %s", from, to)
	}
	all := volume{}
	for _, source := range sources.All() {
		for _, destination := range destinations.All() {
			all = all.plus(want.pairs[[2]int{source, destination}])
		}
	}
	if v.blocks > all.blocks || v.exchanged > all.exchanged || v.blocks == 0 {
		t.Errorf("the page has %+v from %s to %s, of %+v", v, from, to, all)
	}
}

// checkSkewRows compares the skews of the page with those of match, which are compared with
// the calls.
func checkSkewRows(t *testing.T, page, path string, series bool) {
	t.Helper()
	var a matchTruth
	decodeJSON(t, &a, "match", "--json", path)
	rows := pageRows(t, page, "matching", "Operation")
	if len(rows) != len(a.Skews) || series != (len(rows) > 0) {
		t.Fatalf("the page has %d skews, not %d", len(rows), len(a.Skews))
	}
	for i, r := range rows {
		s := a.Skews[i]
		last := fmt.Sprintf("%d, call %d", s.MaxStraggler, s.MaxPosition)
		if !r.has(map[string]uint64{"Operations": uint64(s.Instances), "Sample": uint64(s.Sampled),
			"Most frequent straggler": uint64(s.Straggler)}) ||
			!near(r.value["Mean"], s.Mean, 0.1) || !near(r.value["Median"], s.Median, 0) ||
			!near(r.value["Max"], s.Max, 0) || r.text["Straggler"] != last {
			t.Errorf("the page has %+v, not %+v", r, s)
		}
	}
}

// checkWaitRows compares the waits of the page: by function, and by call with those of imbalance, which are
// compared with the calls.
func checkWaitRows(t *testing.T, page, path string, w truth) {
	t.Helper()
	var a imbalanceTruth
	decodeJSON(t, &a, "waits", "--json", "--all", path)
	var at struct {
		Places []placeTruth `json:"by_rank"`
	}
	decodeJSON(t, &at, "at", "--json", path, "0")
	kept := make(map[string]float64)
	for _, f := range a.Functions {
		kept[f.Function] = f.WaitError
	}
	for _, r := range pageRows(t, page, "imbalance", "Fastest") {
		name := r.text["Function"]
		want, off := w.functionWait(name), kept[name]
		if a.Exact { // the page tells functions by the times of every call
			off = 2 * at.Places[0].RelativeError * float64(w.functions[name].time)
		}
		if r.value["Calls"] != float64(w.functions[name].calls) || !near(r.value["Wait time"], want, off+0.5) {
			t.Errorf("the page has %+v, not %.0f within %.0f", r, want, off)
		}
	}
	title := "Wait time at most"
	if a.Exact {
		title = "Wait time"
	}
	rows := pageRows(t, page, "imbalance", "Call")
	for i, r := range rows {
		if s := a.Sites[i]; siteOf(r.text["Call"]) != siteOf(s.Call) ||
			r.value["Calls"] != float64(s.Calls) || !near(r.value["Mean"], s.Mean, 0.1) ||
			r.value["Min"] != s.Min || r.value["Max"] != s.Max || !near(r.value[title], s.Wait, 0.5) {
			t.Errorf("the page has %+v, not %+v", r, s)
		}
	}
	if len(rows) == 0 {
		t.Error("the page has no calls with wait time")
	}
}
