package parquet_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/csv"
	"github.com/reprise-trace/reprise/internal/test/foreign"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// recordedRuns are runs of MPI programs in which calls that send, receive and wait belong
// together in all ways: requests one by one and several, persistent ones, and receives from
// any source.
func recordedRuns(t testing.TB) map[string]*trace.Trace {
	t.Helper()
	runs := map[string]*trace.Trace{"stencil": testtrace.Stencil(t, "exact")}
	for _, name := range tier.Some([]string{"startall", "messages", "wildcard", "halves"}, 2) {
		runs[name] = testtrace.Recorded(t, name+".exact")
	}
	return runs
}

// files writes the tables of a trace, of one as text too, and returns what a query in DuckDB
// reads them from.
func files(t *testing.T, name string, tr *trace.Trace, o export.TableOptions) map[string]string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "run.parquet")
	if err := os.WriteFile(path, write(t, tr, o), 0o600); err != nil {
		t.Fatal(err)
	}
	if name != "startall" {
		return map[string]string{"Parquet": "'" + path + "'"}
	}
	text, err := os.Create(filepath.Join(dir, "run.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	if err := csv.Write(t.Context(), text, tr, o); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"Parquet": "'" + path + "'",
		"CSV": fmt.Sprintf("read_csv('%s', sample_size=-1)", text.Name())}
}

// expectedEnds returns the messages of a trace as Match has them, with the call that sends, the
// call that begins the receive and the one that completes it; and the requests, with the call
// that begins each and the one that completes or frees it.
func expectedEnds(t *testing.T, tr *trace.Trace) (messages, requests []string, bytes int64) {
	t.Helper()
	model, err := semantics.Open(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	match, err := query.OpenMatch(t.Context(), model, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type receipt struct {
		rank     int
		position uint64
		request  int64
	}
	completed := make(map[receipt]uint64)
	for number := range tr.Ranks() {
		rank, err := model.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		for call := range rank.Calls(0) {
			o := rank.At(call.Position, call.Terminal)
			if o == nil {
				continue
			}
			for _, id := range slices.Concat(o.Completes, o.Frees) {
				if began, _, ok := rank.Begun(id, call.Position); ok {
					completed[receipt{number, began, id}] = call.Position
					requests = append(requests, fmt.Sprint(number, began, call.Position))
				}
			}
		}
	}
	for number := range tr.Ranks() {
		rank, err := model.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		for call := range rank.Calls(0) {
			o := rank.At(call.Position, call.Terminal)
			if o == nil {
				continue
			}
			for _, m := range o.Messages {
				if m.Direction == semantics.Send && m.Bytes >= 0 {
					bytes += m.Bytes
				}
			}
			partners, err := match.Partner(number, call.Position)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range partners {
				if o.Messages[p.Message].Direction != semantics.Send {
					continue
				}
				there, err := model.Rank(p.Rank)
				if err != nil {
					t.Fatal(err)
				}
				end := p.Position
				receive := there.At(p.Position, there.Grammar().At(p.Position))
				if id, ok := receive.Request(p.Other); ok && !receive.Messages[p.Other].Blocking {
					if end, ok = completed[receipt{p.Rank, p.Position, id}]; !ok {
						end = p.Position // never
					}
				}
				messages = append(messages, fmt.Sprint(number, call.Position, p.Rank, p.Position, end))
			}
		}
	}
	slices.Sort(messages)
	slices.Sort(requests)
	return messages, requests, bytes
}

// rowsOf returns the rows of a query, in order, as text.
func rowsOf(t *testing.T, query string) []string {
	t.Helper()
	var list []string
	for _, row := range foreign.DuckDB(t, query).Rows {
		var values []any
		for _, v := range row {
			values = append(values, *v)
		}
		list = append(list, fmt.Sprintln(values...))
	}
	slices.Sort(list)
	for i := range list {
		list[i] = list[i][:len(list[i])-1]
	}
	return list
}

// TestJoin joins sends, receives and waits in DuckDB, and compares what it finds with Match.
func TestJoin(t *testing.T) {
	for name, tr := range recordedRuns(t) {
		t.Run(name, func(t *testing.T) {
			messages, requests, bytes := expectedEnds(t, tr)
			if len(messages) == 0 || len(requests) == 0 && name != "wildcard" {
				t.Fatalf("%d messages and %d requests", len(messages), len(requests))
			}
			for format, table := range files(t, name, tr, export.TableOptions{}) {
				calls := "WITH calls AS (SELECT rank, position, send_messages::BIGINT[] AS sent, recv_messages::BIGINT[] AS received, requests::BIGINT[] AS requests, send_bytes FROM " + table + ") "
				got := rowsOf(t, calls+`SELECT s.rank, s.position, r.rank, r.began, r.ended
					FROM (SELECT rank, position, unnest(sent) AS message FROM calls) AS s
					JOIN (SELECT rank, message, min(position) AS began, max(position) AS ended
						FROM (SELECT rank, position, unnest(received) AS message FROM calls) GROUP BY ALL) AS r USING (message)`)
				if !slices.Equal(got, messages) {
					t.Errorf("%s: %d messages, want %d: %.200v, want %.200v", format, len(got), len(messages),
						got, messages)
				}
				got = rowsOf(t, calls+`SELECT rank, min(position), max(position) FROM (SELECT rank, position, unnest(requests) AS request FROM calls)
					GROUP BY rank, request HAVING count(*) > 1`)
				if !slices.Equal(got, requests) {
					t.Errorf("%s: %d requests, want %d: %.200v, want %.200v", format, len(got), len(requests),
						got, requests)
				}
				if got := rowsOf(t, calls+"SELECT sum(send_bytes)::BIGINT FROM calls"); got[0] != fmt.Sprint(bytes) {
					t.Errorf("%s: %s bytes in messages, want %d", format, got[0], bytes)
				}
			}
		})
	}
}

// TestMessages checks the table of messages: that it has those that Match has, and what the
// calls of the other table say of each.
func TestMessages(t *testing.T) {
	for name, tr := range recordedRuns(t) {
		t.Run(name, func(t *testing.T) {
			want, _, _ := expectedEnds(t, tr)
			calls := files(t, name, tr, export.TableOptions{})
			for format, table := range files(t, name, tr, export.TableOptions{By: export.Messages}) {
				got := rowsOf(t,
					"SELECT send_rank, send_position, recv_rank, recv_position, complete_position FROM "+
						table+" WHERE message IS NOT NULL")
				if !slices.Equal(got, want) {
					t.Errorf("%s: %d messages, want %d: %.200v, want %.200v", format, len(got), len(want), got, want)
				}
				if wrong := rowsOf(t, "SELECT send_rank, send_position FROM "+table+` WHERE message IS NULL AND coalesce(recv_function, complete_function,
					recv_signature::TEXT, recv_position::TEXT, complete_position::TEXT, recv_start_ns::TEXT, recv_end_ns::TEXT, late_ns::TEXT) IS NOT NULL`); len(wrong) > 0 {
					t.Errorf("%s: messages that nobody receives have a receive: %.100v", format, wrong)
				}
				wrong := rowsOf(t, `SELECT m.message FROM `+table+` AS m
					JOIN `+calls[format]+` AS s ON s.rank = m.send_rank AND s.position = m.send_position
					JOIN `+calls[format]+` AS r ON r.rank = m.recv_rank AND r.position = m.recv_position
					JOIN `+calls[format]+` AS c ON c.rank = m.recv_rank AND c.position = m.complete_position
					WHERE NOT list_contains(s.send_messages::BIGINT[], m.message) OR NOT list_contains(c.recv_messages::BIGINT[], m.message)
					OR NOT list_contains(r.recv_messages::BIGINT[], m.message)
					OR (m.send_start_ns, m.send_end_ns) <> (s.start_ns, s.start_ns + s.duration_ns) OR m.recv_start_ns <> r.start_ns
					OR m.recv_end_ns <> c.start_ns + c.duration_ns OR m.late_ns <> s.start_ns - r.start_ns OR m.send_start <> s.start
					OR (m.send_function, m.recv_function, m.complete_function) <> (s.function, r.function, c.function)
					OR (m.send_signature, m.recv_signature) <> (s.signature, r.signature)
					OR m.tag <> coalesce(s.send_tag::BIGINT, m.tag) OR m.communicator <> s.communicator OR m.send_rank <> coalesce(r.recv_from::BIGINT, m.send_rank)
					OR m.bytes <> s.send_bytes::BIGINT AND len(s.send_messages::BIGINT[]) = 1
					OR m.send_start_ns IS NULL OR m.late_ns IS NULL OR m.bytes IS NULL OR m.time_source <> 'series'`)
				if len(wrong) > 0 {
					t.Errorf("%s: messages %.100v are not what their calls say", format, wrong)
				}
			}
		})
	}
}
