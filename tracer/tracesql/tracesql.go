// Package tracesql records what a program does with a database, whatever driver of
// database/sql it uses.
//
//	db := sql.OpenDB(tracesql.Connector(connector, process))
//
// Where there is no connector but a name of a driver and of a source, [Open] takes these.
//
// Statements are calls of sql.exec and sql.query: the text, with places for the values,
// how many values there were, the rows that changed or the columns of the result, −1 where
// these are not known, and the error. sql.begin, sql.commit and sql.rollback have the
// error. A query ends before its rows are read. Statements that are under way at once are
// of different threads.
//
// The function that [sql.Conn.Raw] calls is given a connection of this package, not that of
// the driver: what the driver adds to the interfaces of package driver is not reached.
package tracesql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/tracer"
)

var (
	execute  = tracer.Func4[string, int, int64, string]("sql.exec", "text", "values", "out rows", "out error")
	query    = tracer.Func4[string, int, int, string]("sql.query", "text", "values", "out columns", "out error")
	begin    = tracer.Func1[string]("sql.begin", "out error")
	commit   = tracer.Func1[string]("sql.commit", "out error")
	rollback = tracer.Func1[string]("sql.rollback", "out error")
)

// Open is [sql.Open] of a database whose statements are recorded.
func Open(driverName, source string, p *tracer.Process) (*sql.DB, error) {
	db, err := sql.Open(driverName, source)
	if err != nil {
		return nil, err
	}
	d := db.Driver()
	if err := db.Close(); err != nil {
		return nil, err
	}
	var c driver.Connector = namedSource{d, source}
	if d, ok := d.(driver.DriverContext); ok {
		if c, err = d.OpenConnector(source); err != nil {
			return nil, err
		}
	}
	return sql.OpenDB(Connector(c, p)), nil
}

// A namedSource is the connector of a driver that has none.
type namedSource struct {
	driver driver.Driver
	source string
}

func (s namedSource) Connect(context.Context) (driver.Conn, error) { return s.driver.Open(s.source) }
func (s namedSource) Driver() driver.Driver                        { return s.driver }

// Connector returns a connector whose connections record their statements, for [sql.OpenDB].
func Connector(c driver.Connector, p *tracer.Process) driver.Connector {
	need.That(c != nil, "tracesql: no connector")
	return connector{c, p}
}

type connector struct {
	driver.Connector
	process *tracer.Process
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	of, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	recorded := &conn{of, c.process}
	switch executes, queries := executes(of), queries(of); {
	case executes && queries:
		return struct {
			*conn
			execConn
			queryConn
		}{recorded, execConn{recorded}, queryConn{recorded}}, nil
	case executes:
		return execConn{recorded}, nil
	case queries:
		return queryConn{recorded}, nil
	}
	return recorded, nil
}

// Close closes what the connector of the driver holds, for [sql.DB.Close].
func (c connector) Close() error {
	if of, ok := c.Connector.(io.Closer); ok {
		return of.Close()
	}
	return nil
}

// record calls do as a call that end records.
func record[T any](p *tracer.Process, do func() (T, error),
	end func(t *tracer.Thread, begun tracer.Moment, result T, message string)) (T, error) {
	thread := p.Thread()
	defer thread.Release()
	begun := thread.Begin()
	result, err := do()
	message := ""
	if errors.Is(err, driver.ErrSkip) {
		return result, err // package sql tries another way, which is recorded
	}
	if err != nil {
		message = err.Error()
	}
	end(thread, begun, result, message)
	return result, err
}

func exec(p *tracer.Process, text string, values int, do func() (driver.Result, error)) (driver.Result, error) {
	return record(p, do, func(t *tracer.Thread, begun tracer.Moment, r driver.Result, message string) {
		rows := int64(-1)
		if message == "" {
			if n, err := r.RowsAffected(); err == nil {
				rows = n
			}
		}
		execute.End(t, begun, text, values, rows, message)
	})
}

func ask(p *tracer.Process, text string, values int, do func() (driver.Rows, error)) (driver.Rows, error) {
	return record(p, do, func(t *tracer.Thread, begun tracer.Moment, r driver.Rows, message string) {
		columns := -1
		if message == "" {
			columns = len(r.Columns())
		}
		query.End(t, begun, text, values, columns, message)
	})
}

// A conn is a connection. What the connection of the driver lacks of the optional
// interfaces, package sql does as it does without a conn.
type conn struct {
	driver.Conn
	process *tracer.Process
}

func (c *conn) Prepare(text string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), text)
}

func (c *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	var (
		s   driver.Stmt
		err error
	)
	if of, ok := c.Conn.(driver.ConnPrepareContext); ok {
		s, err = of.PrepareContext(ctx, text)
	} else if s, err = c.Conn.Prepare(text); err == nil && ctx.Err() != nil {
		s.Close()
		return nil, ctx.Err()
	}
	if err != nil { // the statement is never made: this is all that is seen of it
		return nil, refused(c.process, text, err)
	}
	recorded := &stmt{s, c, text}
	//lint:ignore SA1019 drivers still have it
	if of, ok := s.(driver.ColumnConverter); ok {
		return &convertingStmt{recorded, of}, nil
	}
	return recorded, nil
}

// refused records a statement that could not be prepared, and returns the error.
func refused(p *tracer.Process, text string, err error) error {
	_, err = exec(p, text, 0, func() (driver.Result, error) { return nil, err })
	return err
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	of, err := record(c.process, func() (driver.Tx, error) {
		switch of, ok := c.Conn.(driver.ConnBeginTx); {
		case ok:
			return of.BeginTx(ctx, o)
		case o != driver.TxOptions{}:
			return nil, errors.New("tracesql: the driver has no options of transactions")
		}
		//lint:ignore SA1019 what package sql calls of such a driver
		of, err := c.Conn.Begin()
		if err == nil && ctx.Err() != nil {
			_ = of.Rollback()
			return nil, ctx.Err()
		}
		return of, err
	}, func(t *tracer.Thread, begun tracer.Moment, _ driver.Tx, message string) { begin.End(t, begun, message) })
	if err != nil {
		return nil, err
	}
	return &tx{of, c.process}, nil
}

func (c *conn) Ping(ctx context.Context) error {
	if of, ok := c.Conn.(driver.Pinger); ok {
		return of.Ping(ctx)
	}
	return nil
}

func (c *conn) ResetSession(ctx context.Context) error {
	if of, ok := c.Conn.(driver.SessionResetter); ok {
		return of.ResetSession(ctx)
	}
	return nil
}

func (c *conn) IsValid() bool {
	of, ok := c.Conn.(driver.Validator)
	return !ok || of.IsValid()
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if of, ok := c.Conn.(driver.NamedValueChecker); ok {
		return of.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// An execConn is a conn whose driver executes statements without preparing them.
type execConn struct{ *conn }

func executes(c driver.Conn) bool {
	if _, ok := c.(driver.ExecerContext); ok {
		return true
	}
	_, ok := c.(driver.Execer) //lint:ignore SA1019 drivers still have it
	return ok
}

func (c execConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	return exec(c.process, text, len(args), func() (driver.Result, error) {
		if of, ok := c.Conn.(driver.ExecerContext); ok {
			return of.ExecContext(ctx, text, args)
		}
		values, err := plain(ctx, args)
		if err != nil {
			return nil, err
		}
		//lint:ignore SA1019 what package sql calls of such a driver
		return c.Conn.(driver.Execer).Exec(text, values)
	})
}

// A queryConn is a conn whose driver asks queries without preparing them.
type queryConn struct{ *conn }

func queries(c driver.Conn) bool {
	if _, ok := c.(driver.QueryerContext); ok {
		return true
	}
	_, ok := c.(driver.Queryer) //lint:ignore SA1019 drivers still have it
	return ok
}

func (c queryConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	return ask(c.process, text, len(args), func() (driver.Rows, error) {
		if of, ok := c.Conn.(driver.QueryerContext); ok {
			return of.QueryContext(ctx, text, args)
		}
		values, err := plain(ctx, args)
		if err != nil {
			return nil, err
		}
		//lint:ignore SA1019 what package sql calls of such a driver
		return c.Conn.(driver.Queryer).Query(text, values)
	})
}

// A tx is a transaction.
type tx struct {
	driver.Tx
	process *tracer.Process
}

func (x *tx) Commit() error   { return x.end(x.Tx.Commit, &commit) }
func (x *tx) Rollback() error { return x.end(x.Tx.Rollback, &rollback) }

func (x *tx) end(do func() error, fn *tracer.Function1[string]) error {
	_, err := record(x.process, func() (struct{}, error) { return struct{}{}, do() },
		func(t *tracer.Thread, begun tracer.Moment, _ struct{}, message string) { fn.End(t, begun, message) })
	return err
}

// A stmt is a statement that was prepared.
type stmt struct {
	driver.Stmt
	conn *conn
	text string
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return exec(s.conn.process, s.text, len(args), func() (driver.Result, error) {
		if of, ok := s.Stmt.(driver.StmtExecContext); ok {
			return of.ExecContext(ctx, args)
		}
		values, err := plain(ctx, args)
		if err != nil {
			return nil, err
		}
		//lint:ignore SA1019 what package sql calls of such a driver
		return s.Stmt.Exec(values)
	})
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return ask(s.conn.process, s.text, len(args), func() (driver.Rows, error) {
		if of, ok := s.Stmt.(driver.StmtQueryContext); ok {
			return of.QueryContext(ctx, args)
		}
		values, err := plain(ctx, args)
		if err != nil {
			return nil, err
		}
		//lint:ignore SA1019 what package sql calls of such a driver
		return s.Stmt.Query(values)
	})
}

func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	if of, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return of.CheckNamedValue(v)
	}
	return s.conn.CheckNamedValue(v)
}

// A convertingStmt is a stmt whose driver converts each argument by itself. Package sql asks
// for that where CheckNamedValue returns driver.ErrSkip.
type convertingStmt struct {
	*stmt
	//lint:ignore SA1019 drivers still have it
	converter driver.ColumnConverter
}

func (s *convertingStmt) ColumnConverter(i int) driver.ValueConverter {
	return s.converter.ColumnConverter(i)
}

// plain returns the values of arguments for drivers that know no names.
func plain(ctx context.Context, args []driver.NamedValue) ([]driver.Value, error) {
	values := make([]driver.Value, len(args))
	for i, a := range args {
		if a.Name != "" {
			return nil, errors.New("tracesql: the driver has no named arguments")
		}
		values[i] = a.Value
	}
	return values, ctx.Err()
}
