package main

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/tracesql"
)

// TestWork counts the statements in the part file.
func TestWork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.part.rpz")
	p, err := tracer.Open(tracer.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(tracesql.Connector(newTable(), p))
	if err := work(db); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	r, err := tr.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int)
	for c, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		counts[c.String()]++
	}
	for call, want := range map[string]int{
		`sql.exec(text="insert into numbers values (?, ?)", values=2, rows=1, error="")`:        1000,
		`sql.query(text="select n from numbers where name = ?", values=1, columns=1, error="")`: 100,
		`sql.exec(text="drop table numbers", values=0, rows=-1, error="no such statement")`:     1,
	} {
		if counts[call] != want {
			t.Errorf("%d of %s, want %d: %v", counts[call], call, want, counts)
		}
	}
}
