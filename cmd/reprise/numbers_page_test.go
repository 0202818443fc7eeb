package main

import (
	"encoding/json"
	"html"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/query"
)

// pageJSON reads the data of the charts of a page.
func pageJSON(t *testing.T, page string, into any) {
	t.Helper()
	found := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(page)
	if found == nil {
		t.Fatal("the page has no data")
	}
	if err := json.Unmarshal([]byte(found[1]), into); err != nil {
		t.Fatal(err)
	}
}

// tableRow is a row of a table of the page whose first cell is a name: that, and the values of
// the others.
var (
	tableRow  = regexp.MustCompile(`(?s)<tr><td class="name"[^>]*>(?:<code>)?([^<]*)(.*?)</tr>`)
	cellValue = regexp.MustCompile(` data-value="([^"]*)"`)
)

// checkTable compares a table of the page, of names with calls, and their times: the fifth
// column is the sum, the eighth and the ninth are the least and the most.
func checkTable(t *testing.T, page, section string, want map[string]tally, within func(name string) float64,
	exact bool) {
	t.Helper()
	_, rest, _ := strings.Cut(page, `<section id="`+section+`">`)
	part, _, _ := strings.Cut(rest, "</section>")
	rows := tableRow.FindAllStringSubmatch(part, -1)
	if len(rows) != len(want) {
		t.Errorf("%s: %d rows, not %d", section, len(rows), len(want))
	}
	for _, row := range rows {
		var values []float64
		for _, v := range cellValue.FindAllStringSubmatch(row[2], -1) {
			x, err := strconv.ParseFloat(v[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, x)
		}
		w := want[html.UnescapeString(row[1])]
		if len(values) < 8 || values[0] != float64(w.calls) || math.Abs(values[3]-float64(w.time)) > within(row[1]) ||
			exact && (values[6] != float64(w.least) || values[7] != float64(w.most)) {
			t.Errorf("%s: %s: %v, not %+v", section, row[1], values, w)
		}
	}
}

// checkPage compares what the page of the report tells: the data of its charts.
func checkPage(t *testing.T, path string, want truth, exact bool) {
	t.Helper()
	page := must(t, "report", path, "-o", "-")
	var data struct {
		Functions []struct {
			Name  string
			Calls uint64
			Time  float64
		}
		Timeline struct {
			Error float64
			Ranks []struct {
				Rank  int
				Calls []byte
			}
		}
	}
	pageJSON(t, page, &data)
	var p answer.Profile
	decodeJSON(t, &p, "profile", "--json", path)
	errors := make(map[string]query.Nanoseconds)
	for _, f := range p.Functions {
		errors[f.Name] = f.Time.Error
	}
	for _, f := range data.Functions {
		w := want.functions[f.Name]
		if off := math.Abs(f.Time - float64(w.time)); f.Calls != w.calls || off > float64(errors[f.Name]) ||
			exact && off > 0 {
			t.Errorf("the page has %d calls of %s, of %.0f ns, not %d of %d", f.Calls, f.Name, f.Time, w.calls, w.time)
		}
	}
	checkTable(t, page, "functions", want.functions, func(name string) float64 { return float64(errors[name]) }, exact)
	var bySite answer.Profile
	decodeJSON(t, &bySite, "profile", "--json", "--by", "site", path)
	checkTable(t, page, "places", want.sites, func(name string) float64 {
		for _, s := range bySite.Sites {
			if s.Site == name {
				return float64(s.Time.Error)
			}
		}
		return 0
	}, exact)
	checkRankTable(t, page, path, want, exact)
	if exact && (len(data.Timeline.Ranks) != len(want.ranks) || data.Timeline.Error != 0 ||
		len(data.Timeline.Ranks[0].Calls) == 0) {
		t.Error("the timeline has not the exact times of all ranks")
	}
}

// checkRankTable compares what the page tells of each rank, in the table of the imbalance.
func checkRankTable(t *testing.T, page, path string, want truth, exact bool) {
	t.Helper()
	var p answer.Profile
	decodeJSON(t, &p, "profile", "--json", "--by", "rank", path)
	rows := regexp.MustCompile(
		`<tr><td data-find="call=(\d+),0" data-value="\d+">\d+</td><td data-value="(\d+)">[^<]*</td><td data-value="([\d.]+)">`).FindAllStringSubmatch(page, -1)
	if len(rows) != len(want.ranks) {
		t.Fatalf("%d rows of ranks", len(rows))
	}
	for i, row := range rows {
		sum := tally{}
		for _, f := range want.ranks[i] {
			sum.calls += f.calls
		}
		sum.time = want.inRun(i)
		calls, err := strconv.ParseUint(row[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		time, err := strconv.ParseFloat(row[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		if off := math.Abs(time - float64(sum.time)); row[1] != strconv.Itoa(i) || calls != sum.calls ||
			off > float64(p.RankTimes[i].Error)+1 || exact && off > 1 {
			t.Errorf("rank %s: %d calls of %.0f ns, not %+v", row[1], calls, time, sum)
		}
	}
}
