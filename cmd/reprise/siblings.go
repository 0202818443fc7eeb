package main

import (
	"fmt"
	"strings"
)

// A communicatorLine is a row of a table of communicators. Rows can be summed up.
type communicatorLine[T any] interface {
	name() string // empty if the trace does not tell
	named(name string) T
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
	counts := make(map[string]int)
	for _, row := range rows {
		counts[parent(row)]++
	}
	var sums []T
	at := make(map[string]int)
	for _, row := range rows {
		of := parent(row)
		if of == "" || counts[of] < 2 {
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
		sums[i] = sums[i].named(fmt.Sprintf("%s/*, %s of them", of, comma(uint64(counts[of]))))
	}
	return sums
}
