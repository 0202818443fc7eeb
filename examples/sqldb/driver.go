package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
)

// A table is a database for the example: one table of numbers by name, that knows
// "insert into numbers values (?, ?)" and "select n from numbers where name = ?".
type table struct {
	mu      sync.Mutex
	numbers map[string][]int64
}

func newTable() *table { return &table{numbers: make(map[string][]int64)} }

// Connect and Driver make a table a [driver.Connector].
func (t *table) Connect(context.Context) (driver.Conn, error) { return conn{t}, nil }
func (t *table) Driver() driver.Driver                        { return t }
func (t *table) Open(string) (driver.Conn, error)             { return conn{t}, nil }

type conn struct{ table *table }

func (c conn) Prepare(query string) (driver.Stmt, error) {
	switch {
	case strings.HasPrefix(query, "insert into numbers "), strings.HasPrefix(query, "select n from numbers "):
		return stmt{c.table, query}, nil
	}
	return nil, errors.New("no such statement")
}
func (conn) Close() error              { return nil }
func (conn) Begin() (driver.Tx, error) { return nil, errors.New("no transactions") }

type stmt struct {
	table *table
	query string
}

func (stmt) Close() error    { return nil }
func (s stmt) NumInput() int { return strings.Count(s.query, "?") }

func (s stmt) Exec(args []driver.Value) (driver.Result, error) {
	s.table.mu.Lock()
	defer s.table.mu.Unlock()
	name := args[0].(string)
	s.table.numbers[name] = append(s.table.numbers[name], args[1].(int64))
	return driver.RowsAffected(1), nil
}

func (s stmt) Query(args []driver.Value) (driver.Rows, error) {
	s.table.mu.Lock()
	defer s.table.mu.Unlock()
	return &rows{s.table.numbers[args[0].(string)]}, nil
}

type rows struct{ left []int64 }

func (*rows) Columns() []string { return []string{"n"} }
func (*rows) Close() error      { return nil }

func (r *rows) Next(dst []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	dst[0], r.left = r.left[0], r.left[1:]
	return nil
}
