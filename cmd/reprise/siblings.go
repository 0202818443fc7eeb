package main

import (
	"fmt"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A communicatorLine is a row of a table of communicators. Rows can be summed up.
type communicatorLine[T any] interface {
	name() string  // empty if the trace does not tell
	count() uint64 // of communicators
	named(name string, count uint64) T
	with(other T) T
}

// sumSiblings returns rows as they are, if there are no more than most, and otherwise with
// those of communicators summed up that are made from one.
func sumSiblings[T communicatorLine[T]](rows []T, most int) []T {
	if len(rows) <= most {
		return rows
	}
	parent := func(row T) string {
		name := row.name()
		return name[:max(0, strings.LastIndexByte(name, '/'))]
	}
	lines, counts := make(map[string]int), make(map[string]uint64)
	for _, row := range rows {
		lines[parent(row)]++
		counts[parent(row)] = wire.AddSat(counts[parent(row)], row.count())
	}
	var sums []T
	at := make(map[string]int)
	for _, row := range rows {
		of := parent(row)
		if of == "" || lines[of] < 2 {
			sums = append(sums, row)
			continue
		}
		if i, ok := at[of]; ok {
			sums[i] = sums[i].with(row)
			continue
		}
		at[of] = len(sums)
		sums = append(sums, row)
	}
	for of, i := range at {
		sums[i] = sums[i].named(fmt.Sprintf("%s/*", of), counts[of])
	}
	return sums
}

// severalNamed returns the name of a row for so many communicators.
func severalNamed(name string, count uint64) string {
	if name = text.Printable(name); count > 1 {
		return fmt.Sprintf("%s, %s of them", name, text.Count(count))
	}
	return name
}
