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

	"github.com/reprise-trace/reprise/internal/test/tracertest"
	"github.com/reprise-trace/reprise/trace"
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

// record records the calls that use makes.
func record(t *testing.T, open func(p *tracer.Process) (*sql.DB, error)) *tracertest.Process {
	t.Helper()
	p := tracertest.Open(t, tracer.Config{})
	db, err := open(p.Process)
	if err != nil {
		t.Fatal(err)
	}
	use(db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return p
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
		{"new", func(p *tracer.Process) (*sql.DB, error) {
			return sql.OpenDB(tracesql.Connector(echo{true}, p)), nil
		}, []string{
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
		t.Run(tt.name, func(t *testing.T) { record(t, tt.open).Check(t, tt.want...) })
	}
}

// A spy is a driver that refuses all statements with what it was given.
type spy struct {
	conn   func(spyConn) driver.Conn
	stmt   func(spyStmt) driver.Stmt
	inputs int
	closed int
}

func (s *spy) Connect(context.Context) (driver.Conn, error) { return s.conn(spyConn{s}), nil }
func (s *spy) Driver() driver.Driver                        { return echo{} }
func (s *spy) Close() error                                 { s.closed++; return errors.New("closed") }

func seen(by string, args any) error { return fmt.Errorf("%s: %#v", by, args) }

type spyConn struct{ *spy }

func (c spyConn) Prepare(string) (driver.Stmt, error) { return c.stmt(spyStmt(c)), nil }
func (spyConn) Close() error                          { return nil }
func (spyConn) Begin() (driver.Tx, error)             { return tx{}, nil }

type spyStmt struct{ *spy }

func (spyStmt) Close() error                                    { return nil }
func (s spyStmt) NumInput() int                                 { return s.inputs }
func (spyStmt) Exec(args []driver.Value) (driver.Result, error) { return nil, seen("stmt exec", args) }
func (spyStmt) Query(args []driver.Value) (driver.Rows, error)  { return nil, seen("stmt query", args) }

type (
	execConn  struct{ spyConn }
	queryConn struct{ spyConn }
	checkConn struct{ spyConn }
)

func (execConn) Exec(_ string, args []driver.Value) (driver.Result, error) {
	return nil, seen("exec", args)
}
func (queryConn) Query(_ string, args []driver.Value) (driver.Rows, error) {
	return nil, seen("query", args)
}
func (checkConn) CheckNamedValue(v *driver.NamedValue) error { return check(v) }

type (
	checkStmt   struct{ spyStmt }
	convertStmt struct{ spyStmt }
	bothStmt    struct{ convertStmt }
)

func (checkStmt) CheckNamedValue(v *driver.NamedValue) error { return check(v) }
func (bothStmt) CheckNamedValue(v *driver.NamedValue) error  { return check(v) }

// check takes lists, leaves out "none", and leaves others to what comes next.
func check(v *driver.NamedValue) error {
	switch v.Value.(type) {
	case []int:
		return nil
	case string:
		return driver.ErrRemoveArgument
	}
	return driver.ErrSkip
}

// ColumnConverter takes small numbers, and knows no columns but its own.
func (s convertStmt) ColumnConverter(i int) driver.ValueConverter {
	if s.inputs >= 0 && i >= s.inputs {
		panic(i)
	}
	return converter{}
}

type converter struct{}

func (converter) ConvertValue(v any) (driver.Value, error) {
	if _, ok := v.(bool); ok {
		return []int{1}, nil // which is no Value
	}
	return driver.Null{Converter: driver.Int32}.ConvertValue(v)
}

// A valuer has a value, which may be none that drivers know.
type valuer struct{ v any }

func (v valuer) Value() (driver.Value, error) { return v.v, nil }

// TestSame compares what drivers are given, and the errors of package sql, with and without
// a recording.
func TestSame(t *testing.T) {
	conns := map[string]func(spyConn) driver.Conn{
		"old":   func(c spyConn) driver.Conn { return c },
		"exec":  func(c spyConn) driver.Conn { return execConn{c} },
		"query": func(c spyConn) driver.Conn { return queryConn{c} },
		"both": func(c spyConn) driver.Conn {
			return struct {
				spyConn
				driver.Execer
				driver.Queryer
			}{c, execConn{c}, queryConn{c}}
		},
		"check": func(c spyConn) driver.Conn { return checkConn{c} },
	}
	stmts := map[string]func(spyStmt) driver.Stmt{
		"old":     func(s spyStmt) driver.Stmt { return s },
		"check":   func(s spyStmt) driver.Stmt { return checkStmt{s} },
		"convert": func(s spyStmt) driver.Stmt { return convertStmt{s} },
		"both":    func(s spyStmt) driver.Stmt { return bothStmt{convertStmt{s}} },
	}
	arguments := [][]any{
		nil, {1}, {1, 2}, {sql.NullInt64{Int64: 7, Valid: true}}, {sql.NullInt64{}}, {int64(1 << 40)}, {true},
		{[]int{1, 2}},
		{"none"}, {"none", 1}, {sql.Named("n", 1)}, {valuer{3}}, {valuer{int64(3)}}, {(*valuer)(nil)},
		{valuer{[]int{}}},
	}
	p, err := tracer.Open(tracer.Config{Path: filepath.Join(t.TempDir(), "part.rpz")})
	if err != nil {
		t.Fatal(err)
	}
	for conn, newConn := range conns {
		for stmt, newStmt := range stmts {
			for inputs := -2; inputs <= 2; inputs++ {
				of := &spy{conn: newConn, stmt: newStmt, inputs: inputs}
				without, with := sql.OpenDB(of), sql.OpenDB(tracesql.Connector(of, p))
				for _, args := range arguments {
					if got, want := refusals(with, args), refusals(without, args); !slices.Equal(got, want) {
						t.Errorf("conn %s, stmt %s of %d, %v:\n%s\nwant\n%s", conn, stmt, inputs, args,
							strings.Join(got, "\n"), strings.Join(want, "\n"))
					}
				}
				if got, want := fmt.Sprint(with.Close()), fmt.Sprint(without.Close()); got != want || of.closed != 2 {
					t.Errorf("Close: %s, want %s", got, want)
				}
			}
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// refusals returns the errors of statements in every way. Errors of this package and of
// package sql that mean one thing are one.
func refusals(db *sql.DB, args []any) []string {
	var list []string
	add := func(err error) {
		if text := fmt.Sprint(err); strings.Contains(strings.ToLower(text), "named") {
			list = append(list, "named")
		} else {
			list = append(list, text)
		}
	}
	_, err := db.Exec("x", args...)
	add(err)
	_, err = db.Query("x", args...)
	add(err)
	s, err := db.Prepare("x")
	if err != nil {
		return append(list, err.Error())
	}
	defer s.Close()
	_, err = s.Exec(args...)
	add(err)
	_, err = s.Query(args...)
	add(err)
	return list
}

// An older is the connector of echo, with what drivers had before contexts.
type older struct {
	echo
	cancel func()
}

func (o older) Connect(context.Context) (driver.Conn, error) {
	return olderConn{execConn: new(execConn), cancel: o.cancel}, nil
}

type olderConn struct {
	*execConn
	cancel func()
}

func (olderConn) Prepare(text string) (driver.Stmt, error) { return stmt(text), nil }
func (olderConn) Close() error                             { return nil }
func (c olderConn) Begin() (driver.Tx, error)              { c.cancel(); return tx{}, nil }

// TestOlder records statements that such a driver takes as they are.
func TestOlder(t *testing.T) {
	begun := 0
	got := record(t, func(p *tracer.Process) (*sql.DB, error) {
		return sql.OpenDB(tracesql.Connector(older{cancel: func() { begun++ }}, p)), nil
	}).Calls(t)
	want := []string{
		`sql.exec(text="set ?", values=1, rows=-1, error="exec: []driver.Value{1}")`,
		`sql.exec(text="set ?", values=1, rows=-1, error="exec: []driver.Value{\"x\"}")`,
		`sql.exec(text="fail", values=0, rows=-1, error="exec: []driver.Value{}")`,
		`sql.query(text="get ? ?", values=2, columns=1, error="")`,
	}
	if !slices.Equal(got[:len(want)], want) || begun != 2 {
		t.Errorf("%d begun\n%s\nwant\n%s", begun, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	db := sql.OpenDB(tracesql.Connector(older{cancel: cancel}, nil))
	defer db.Close()
	if _, err := db.BeginTx(ctx, nil); err != context.Canceled {
		t.Errorf("a transaction that was canceled: %v", err)
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

	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	rank, err := tr.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	for terminal, n := range rank.Occurrences() {
		fmt.Println(n, rank.Call(terminal))
	}
	// Output:
	// 1000 sql.exec(text="insert into numbers values (?)", values=1, rows=1, error="")
}
