// Command sqldb records the statements that a program sends to a database, with
// their times. Several processes that do so make one trace as those of ../nethttp do.
//
//	go run ./examples/sqldb -o app.part.rpz && reprise grammar app.part.rpz --ranks 0
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/tracesql"
)

func main() {
	log.SetFlags(0)
	output := flag.String("o", "app.part.rpz", "the part file to write")
	rank := flag.Int("rank", 0, "the number of this process")
	flag.Parse()
	p, err := tracer.Open(tracer.Config{Rank: *rank, Source: "sqldb", Path: *output})
	if err != nil {
		log.Fatal(err)
	}
	db := sql.OpenDB(tracesql.Connector(newTable(), p))
	if err := errors.Join(work(db), db.Close(), p.Close()); err != nil {
		log.Fatal(err)
	}
}

// work inserts and reads numbers, and makes a mistake.
func work(db *sql.DB) error {
	ctx := context.Background()
	for i := range 1000 {
		name := fmt.Sprint("series ", i%5)
		if _, err := db.ExecContext(ctx, "insert into numbers values (?, ?)", name, i); err != nil {
			return err
		}
		if i%10 < 9 {
			continue
		}
		if err := read(ctx, db, name); err != nil {
			return err
		}
	}
	if _, err := db.ExecContext(ctx, "drop table numbers"); err == nil {
		return errors.New("the table is gone")
	}
	return nil
}

// read reads all numbers of a name.
func read(ctx context.Context, db *sql.DB, name string) error {
	rows, err := db.QueryContext(ctx, "select n from numbers where name = ?", name)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			return err
		}
	}
	return rows.Err()
}
