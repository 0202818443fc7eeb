package tracesql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/tracesql"
)

func init() { sql.Register("echo", echo{}) }

// An echo is a driver of which statements succeed unless their text is "fail". Its rows
// are the arguments. If it is full, its connections have the newer interfaces.
type echo struct{ full bool }

func (e echo) Open(string) (driver.Conn, error) {
	if e.full {
		return &fullConn{}, nil
	}
	return &conn{}, nil
}
func (e echo) Connect(context.Context) (driver.Conn, error) { return e.Open("") }
func (e echo) Driver() driver.Driver                        { return e }

type conn struct{}

func (*conn) Prepare(text string) (driver.Stmt, error) {
	if text == "fail" {
		return nil, errors.New("cannot")
	}
	return stmt(text), nil
}
func (*conn) Close() error              { return nil }
func (*conn) Begin() (driver.Tx, error) { return tx{}, nil }

type tx struct{}

func (tx) Commit() error   { return nil }
func (tx) Rollback() error { return errors.New("too late") }

type stmt string

func (stmt) Close() error    { return nil }
func (s stmt) NumInput() int { return strings.Count(string(s), "?") }
func (s stmt) Exec(args []driver.Value) (driver.Result, error) {
	return driver.RowsAffected(len(args)), nil
}
func (s stmt) Query(args []driver.Value) (driver.Rows, error) { return &rows{args}, nil }

type rows struct{ left []driver.Value }

func (*rows) Columns() []string { return []string{"value"} }
func (*rows) Close() error      { return nil }
func (r *rows) Next(dst []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	dst[0], r.left = r.left[0], r.left[1:]
	return nil
}

// A fullConn does without statements that are prepared. It takes numbers only.
type fullConn struct{ conn }

func (*fullConn) ExecContext(_ context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	if text == "fail" {
		return nil, errors.New("cannot")
	}
	return driver.ResultNoRows, nil
}
func (*fullConn) QueryContext(_ context.Context, _ string, args []driver.NamedValue) (driver.Rows, error) {
	return &rows{}, nil
}
func (*fullConn) BeginTx(_ context.Context, o driver.TxOptions) (driver.Tx, error) {
	if o.ReadOnly {
		return nil, errors.New("read only")
	}
	return tx{}, nil
}
func (*fullConn) CheckNamedValue(v *driver.NamedValue) error {
	if _, ok := v.Value.(int); !ok {
		return errors.New("no number")
	}
	return nil
}

// use makes one call of each kind.
func use(db *sql.DB) {
	ctx := context.Background()
	db.ExecContext(ctx, "set ?", 1)
	db.ExecContext(ctx, "set ?", "x")
	db.Exec("fail")
	if r, err := db.Query("get ? ?", 1, 2); err == nil {
		for r.Next() {
		}
		r.Close()
	}
	if x, err := db.Begin(); err == nil {
		x.Exec("set")
		x.Commit()
	}
	if x, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err == nil {
		x.Rollback()
	}
	if x, err := db.Begin(); err == nil {
		x.Rollback()
	}
	if s, err := db.Prepare("put ?"); err == nil {
		s.Exec(3)
		s.Close()
	}
	db.Ping()
}

// record returns the calls that use makes.
func record(t *testing.T, open func(p *tracer.Process) (*sql.DB, error)) []string {
	path := filepath.Join(t.TempDir(), "part.rpz")
	p, err := tracer.Open(tracer.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	db, err := open(p)
	if err != nil {
		t.Fatal(err)
	}
	use(db)
	if err := errors.Join(db.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
	trace, err := reprise.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	rank, err := trace.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for c, err := range rank.Calls() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c.String())
	}
	return list
}

// TestDrivers compares what is recorded of an old and of a new driver.
func TestDrivers(t *testing.T) {
	for _, tt := range []struct {
		name string
		open func(p *tracer.Process) (*sql.DB, error)
		want []string
	}{
		{"old", func(p *tracer.Process) (*sql.DB, error) { return tracesql.Open("echo", "", p) }, []string{
			`sql.exec(text="set ?", values=1, rows=1, error="")`,
			`sql.exec(text="set ?", values=1, rows=1, error="")`,
			`sql.exec(text="fail", values=0, rows=-1, error="cannot")`,
			`sql.query(text="get ? ?", values=2, columns=1, error="")`,
			`sql.begin(error="")`,
			`sql.exec(text="set", values=0, rows=0, error="")`,
			`sql.commit(error="")`,
			`sql.begin(error="tracesql: the driver has no options of transactions")`,
			`sql.begin(error="")`,
			`sql.rollback(error="too late")`,
			`sql.exec(text="put ?", values=1, rows=1, error="")`,
		}},
		{"new", func(p *tracer.Process) (*sql.DB, error) { return sql.OpenDB(tracesql.Connector(echo{true}, p)), nil }, []string{
			`sql.exec(text="set ?", values=1, rows=-1, error="")`,
			`sql.exec(text="fail", values=0, rows=-1, error="cannot")`,
			`sql.query(text="get ? ?", values=2, columns=1, error="")`,
			`sql.begin(error="")`,
			`sql.exec(text="set", values=0, rows=-1, error="")`,
			`sql.commit(error="")`,
			`sql.begin(error="read only")`,
			`sql.begin(error="")`,
			`sql.rollback(error="too late")`,
			`sql.exec(text="put ?", values=1, rows=1, error="")`,
		}},
	} {
		if got := record(t, tt.open); !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "tracesql")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "program.rpz")
	process, err := tracer.Open(tracer.Config{Path: path})
	if err != nil {
		log.Fatal(err)
	}
	db, err := tracesql.Open("echo", "", process)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 1000 {
		if _, err := db.Exec("insert into numbers values (?)", i); err != nil {
			log.Fatal(err)
		}
	}
	if err := errors.Join(db.Close(), process.Close()); err != nil {
		log.Fatal(err)
	}

	trace, err := reprise.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	rank, err := trace.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	for terminal, n := range rank.Occurrences() {
		fmt.Println(n, rank.Call(terminal))
	}
	// Output:
	// 1000 sql.exec(text="insert into numbers values (?)", values=1, rows=1, error="")
}
