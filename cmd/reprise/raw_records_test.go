package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// rawSegment returns the raw records of a process that calls MPI_Barrier some times, as docs/format.md has
// them.
func rawSegment(rank, size, barriers int) []byte {
	const header, loaded = 160, uint64(1e18)
	order := binary.LittleEndian
	data := make([]byte, header)
	copy(data, "reprisp\x03")
	order.PutUint64(data[8:], tableOfRecords())
	order.PutUint64(data[16:], loaded)
	order.PutUint32(data[24:], uint32(100+rank))
	twice := func(at int, x uint32) { order.PutUint64(data[at:], uint64(x)|uint64(^x)<<32) }
	twice(112, uint32(rank))
	twice(120, uint32(size))
	twice(128, 0)
	twice(136, 0)
	twice(144, 1)
	add := func(check, word uint64) uint64 { return check<<13 ^ check>>51 ^ word }
	const mixer = 0x9e3779b97f4a7c15
	record := func(kind, number, flags int, words ...uint64) {
		first := uint64(1+len(words)) | uint64(number)<<27 | uint64(kind)<<38 | uint64(flags)<<42
		check := first
		for _, w := range words[1:] {
			check = add(check, w)
		}
		check = add(add(check, words[0]), uint64(len(data)))
		data = order.AppendUint64(data, first|check*mixer>>46<<46)
		for _, w := range words {
			data = order.AppendUint64(data, w)
		}
	}
	world := uint64(0)
	for i, c := range spec.Constants() {
		value := uint64(i)
		switch {
		case c.Name == "MPI_COMM_WORLD":
			world = value
		case c.Class == "rank" || c.Class == "tag":
			value -= 1000
		}
		record(7, i, 0, value)
	}
	call := func(at uint64, name string, words ...uint64) {
		n, ok := spec.Lookup(name)
		if !ok {
			panic(name)
		}
		record(1, n, 4, append([]uint64{at}, words...)...)
		record(2, n, 4, at+10, 0)
	}
	for i := range barriers {
		call(uint64(1000*(i+1)), "MPI_Barrier", world)
	}
	call(uint64(1000*(barriers+1)), "MPI_Finalize")
	order.PutUint64(data[96:], uint64(len(data)+64))
	order.PutUint64(data[152:], uint64(len(data)))
	check := uint64(0)
	for at := 8; at < 104; at += 8 {
		check = add(check, order.Uint64(data[at:]))
	}
	order.PutUint64(data[104:], check*mixer)
	return append(data, make([]byte, 64)...)
}

// tableOfRecords is what a segment has of the table of functions that its interposer was built from.
func tableOfRecords() uint64 {
	hash := sha256.New()
	for _, f := range spec.Functions() {
		fmt.Fprintf(hash, "%s %v\n", f.Name, f.Result)
		for j := range f.Params {
			p := &f.Params[j]
			fmt.Fprintf(hash, "%s %v %v %t %t %t\n", p.Name, p.Type, p.Direction, p.Before(), p.After(), p.Counted())
		}
	}
	for _, c := range spec.Constants() {
		fmt.Fprintln(hash, c.Name, c.Class)
	}
	return binary.LittleEndian.Uint64(hash.Sum(nil))
}

// rawName returns the name of the segment of a rank in a spool.
func rawName(rank int) string { return fmt.Sprintf("%d-%x.0.0.spool", 100+rank, uint64(1e18)) }

// writeSpool writes raw records of some ranks of a run.
func writeSpool(t testing.TB, directory string, size int, ranks ...int) {
	t.Helper()
	if err := os.MkdirAll(directory, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, rank := range slices.Compact(ranks) {
		writeFile(t, filepath.Join(directory, rawName(rank)), string(rawSegment(rank, size, 3)))
	}
}

// TestRawRecords collects raw records that are whole.
func TestRawRecords(t *testing.T) {
	t.Chdir(t.TempDir())
	writeSpool(t, "raw", 2, 0, 1)
	r := invoke(t, "", "collect", "raw", "-o", "out.rpz", "--quiet")
	if r.status != cli.ExitOK || r.stderr != "" {
		t.Fatalf("%+v", r)
	}
	if got := must(t, "profile", "out.rpz", "--by", "function"); !strings.Contains(got, "MPI_Barrier") {
		t.Error(got)
	}
	writeFile(t, "nothing", "")
	if r := invoke(t, "", "collect", "nothing", "-o", "out2.rpz"); r.status != cli.ExitFailure ||
		!strings.Contains(r.stderr, "nothing: the file is empty") {
		t.Errorf("%+v", r)
	}
}
