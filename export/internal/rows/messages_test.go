package rows_test

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

var integers = regexp.MustCompile("[0-9]+")

// TestMessages checks that the rows of messages are those of sends and of receipts in the rows
// of calls.
func TestMessages(t *testing.T) {
	stencil := programs.Stencil2D(2, 3, 20)
	for name, tr := range map[string]*trace.Trace{
		"Recorded": testtrace.Stencil(t, "exact"), "Statistics": testtrace.Stencil(t, "statistics"),
		"Messages":  testtrace.Recorded(t, "messages.exact"),
		"Synthetic": testtrace.Write(t, stencil.Run(), stencil.Parts()),
		"Unknown":   testtrace.Timed(t, 3, 50, testtrace.Series),
	} {
		t.Run(name, func(t *testing.T) {
			some := rankenc.SetOf(0, 1)
			for _, o := range []export.Options{{}, {Ranks: &some},
				{Between: &export.Interval{From: 267_500_000, To: 267_600_000}}} {
				checkMessages(t, tr, o)
			}
		})
	}
}

// TestPrograms checks the rows of messages, and the texts of calls, of programs of all kinds.
func TestPrograms(t *testing.T) {
	for _, p := range tier.Some(programs.All(9), 10) {
		t.Run(p.Name, func(t *testing.T) {
			tr := testtrace.Write(t, p.Run(), p.Parts())
			some := rankenc.SetOf(1, 2, 5)
			checkMessages(t, tr, export.Options{Ranks: &some})
			checkMessages(t, tr, export.Options{})
			checkCanonical(t, tr)
		})
	}
}

func checkMessages(t *testing.T, tr *trace.Trace, o export.Options) {
	t.Helper()
	all := o
	all.Between = nil
	_, calls := exporttest.Read(t, newTable(t, tr, export.TableOptions{Options: all}))
	sends, ends := make(map[string]exporttest.Row), make(map[string]exporttest.Row)
	unreceived := make(map[string]exporttest.Row) // by rank and position
	for _, row := range calls {
		for _, n := range integers.FindAllString(row["send_messages"], -1) {
			sends[n] = row
		}
		if to, err := strconv.Atoi(row["send_to"]); err == nil && row["send_messages"] == "" &&
			(o.Ranks == nil || o.Ranks.Contains(to)) {
			unreceived[row["rank"]+" "+row["position"]] = row
		}
		for _, n := range integers.FindAllString(row["recv_messages"], -1) {
			ends[n] = row
		}
	}
	_, chosen := exporttest.Read(t,
		newTable(t, tr, export.TableOptions{Options: o, Columns: []string{"rank", "position"}}))
	among := make(map[string]bool)
	for _, row := range chosen {
		among[row["rank"]+" "+row["position"]] = true
	}
	want := 0
	for n, end := range ends {
		if sends[n] == nil {
			t.Fatalf("message %s is received and not sent", n)
		}
		if among[end["rank"]+" "+end["position"]] {
			want++
		}
	}
	for at := range unreceived {
		if among[at] {
			want++
		}
	}
	_, got := exporttest.Read(t, newTable(t, tr, export.TableOptions{Options: o, By: export.Messages}))
	if len(got) != want {
		t.Fatalf("%d messages, want %d", len(got), want)
	}
	for _, m := range got {
		send, end := sends[m["message"]], ends[m["message"]]
		delete(sends, m["message"])
		if m["message"] == "" {
			at := m["send_rank"] + " " + m["send_position"]
			send = unreceived[at]
			end = exporttest.Row{"rank": send["send_to"], "time_source": send["time_source"]}
			delete(unreceived, at)
		}
		for column, v := range map[string]string{
			"send_rank": send["rank"], "send_position": send["position"], "send_start_ns": send["start_ns"],
			"send_function": send["function"],
			"recv_rank":     end["rank"], "complete_position": end["position"],
			"complete_function": end["function"], "time_source": end["time_source"],
			"recv_end_ns": sumOf(end["start_ns"], end["duration_ns"]),
		} {
			if m[column] != v {
				t.Fatalf("%s of message %v is not that of %v and %v, %q", column, m, send, end, v)
			}
		}
	}
}

// sumOf returns the sum of two numbers, nothing of two texts that are empty.
func sumOf(a, b string) string {
	if a == "" {
		return ""
	}
	x, _ := strconv.ParseInt(a, 10, 64)
	y, _ := strconv.ParseInt(b, 10, 64)
	return fmt.Sprint(x + y)
}

// TestCollectives checks that the calls of one collective operation have one number, which no
// other has.
func TestCollectives(t *testing.T) {
	tr := testtrace.Stencil(t, "exact")
	_, calls := exporttest.Read(t, newTable(t, tr, export.TableOptions{}))
	of, next := make(map[string][]string), make(map[string]int)
	order := make(map[string]int) // by number: which operation of its rank it is
	for _, row := range calls {
		n := row["collective"]
		if (n != "") != (row["class"] == "collective") {
			t.Fatalf("a call of class %q is operation %q", row["class"], n)
		}
		if n == "" {
			continue
		}
		k := next[row["rank"]]
		next[row["rank"]]++
		if known, ok := order[n]; ok && known != k {
			t.Fatalf("operation %s is number %d and %d of its ranks", n, known, k)
		}
		order[n] = k
		of[n] = append(of[n], row["rank"]+" "+row["function"])
	}
	if len(of) != next["0"] || len(of) < 10 {
		t.Fatalf("%d operations, of %d on rank 0", len(of), next["0"])
	}
	for n, list := range of {
		if len(list) != tr.Ranks() {
			t.Errorf("operation %s is called by %v", n, list)
		}
	}
}
