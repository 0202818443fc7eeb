package main

import (
	"context"
	"database/sql"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/tracer"
)

// A DB is a [sql.DB] that records its queries and statements: the text, with places
// for the values, how many values there were, and what came of it. Other methods
// are those of the DB in it, and are not recorded.
type DB struct {
	*sql.DB
	process     *tracer.Process
	query, exec tracer.Function
}

// NewDB returns a DB that records what goes through it.
func NewDB(db *sql.DB, p *tracer.Process) *DB {
	statement := func(name, result string) tracer.Function {
		return p.Declare(cst.Function{Name: name, Params: []cst.Param{
			{Name: "text", Type: cst.Type{Kind: cst.KindString}},
			{Name: "values", Type: cst.Type{Kind: cst.KindInt}},
			{Name: result, Type: cst.Type{Kind: cst.KindInt}, Direction: cst.Out},
			{Name: "error", Type: cst.Type{Kind: cst.KindString}, Direction: cst.Out},
		}})
	}
	return &DB{db, p, statement("sql.query", "columns"), statement("sql.exec", "rows")}
}

// QueryContext is [sql.DB.QueryContext]. The number of columns is recorded; the
// call ends before rows are read.
func (d *DB) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	end := d.begin(d.query, query, len(args))
	rows, err := d.DB.QueryContext(ctx, query, args...)
	columns := -1
	if err == nil {
		if names, e := rows.Columns(); e == nil {
			columns = len(names)
		}
	}
	end(int64(columns), err)
	return rows, err
}

// ExecContext is [sql.DB.ExecContext]. The number of rows that it changed is
// recorded, −1 if the driver does not know it.
func (d *DB) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	end := d.begin(d.exec, query, len(args))
	result, err := d.DB.ExecContext(ctx, query, args...)
	rows := int64(-1)
	if err == nil {
		if n, e := result.RowsAffected(); e == nil {
			rows = n
		}
	}
	end(rows, err)
	return result, err
}

// begin begins a call, and returns the function that ends it.
func (d *DB) begin(fn tracer.Function, text string, values int) func(result int64, err error) {
	thread := d.process.Thread()
	begun := thread.Begin()
	return func(result int64, err error) {
		defer thread.Release()
		message := ""
		if err != nil {
			message = err.Error()
		}
		thread.End(fn, begun, cst.String(text), cst.Int(int64(values)), cst.Int(result), cst.String(message))
	}
}
