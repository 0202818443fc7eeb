package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// writingCommands are the commands that write files, of inputs that are called IN.
var writingCommands = strings.Split(strings.TrimSpace(`
compress IN.txt -o OUT
merge IN.rpz -o OUT
merge IN.rpz --bounded 400 -o OUT
merge IN.rpz --part -o OUT
repair IN.rpz -o OUT
report IN.rpz -o OUT
matrix IN.rpz -o OUT.csv
matrix IN.rpz -o OUT.png
predict IN.rpz -o OUT
extrapolate IN.rpz --ranks 8 --force -o OUT
export IN.rpz -o OUT.pb.gz
export IN.calls.rpz -o OUT.parquet
export IN.calls.rpz -o OUT.json
export IN.calls.rpz -o OUT.csv
export IN.calls.rpz -o OUT.prv
export IN.calls.rpz -o OUT.pftrace
export IN.lines.rpz -o OUT.ti`), "\n")

// directoryCommands are those that write a directory.
var directoryCommands = []string{"cat IN.lines.rpz --split OUT", "proxy IN.rpz -o OUT"}

// otherCommands are commands that write files and are not among them, with what tests how they do it.
var otherCommands = map[string]string{
	"collect":   "TestFaultsOfCollect: it takes raw records",
	"record":    "TestFaultsOfCollect and TestKilledAnywhere: another process writes, as collect does",
	"replay":    "the same: what it writes is recorded by another process",
	"calibrate": "TestFaults of matrix, which writes in the same way: before the only write it measures for seconds",
	"slice":     "TestFaultsOfSlice: it runs a compiler",
}

// TestWritingCommands checks that each command with an output is among them, or among the others.
func TestWritingCommands(t *testing.T) {
	used := make(map[string]bool)
	for _, command := range slices.Concat(writingCommands, directoryCommands) {
		used[strings.Fields(command)[0]] = true
	}
	for _, cmd := range newRoot().Commands() {
		if writes := cmd.Flags().Lookup("output") != nil; writes && !used[cmd.Name()] &&
			otherCommands[cmd.Name()] == "" {
			t.Errorf("%s writes, and is not tested", cmd.Name())
		}
	}
}

// writeWritten writes inputs for those commands, called in0, in1 and so on.
func writeWritten(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("in%d", i)
		small := programs.Stencil2D(2, 2, uint64(3*(i+1))).Timed()
		writeTrace(t, name+".rpz", small.Run(), small.Parts()...)
		writeFile(t, name+".calls.rpz", describedAs(t, testtrace.Timed(t, 4, 10*(i+1), testtrace.Series),
			merge.Run{Ranks: 4, Source: "test"}))
		writeFile(t, name+".txt", "0 init\n"+strings.Repeat(fmt.Sprintf("0 send 0 %d 8 1\n", i), 1000*(i+1))+
			"0 finalize\n")
		must(t, "compress", name+".txt", "-o", name+".lines.rpz")
	}
}

// commandOf returns a command of one of the inputs.
func commandOf(command string, i int) []string {
	return strings.Fields(strings.ReplaceAll(command, "IN", fmt.Sprintf("in%d", i)))
}
