package cst

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// FuzzParse checks that whatever Parse accepts is the one encoding of what it
// returns, and that its signatures make the same table again.
func FuzzParse(f *testing.F) {
	enc, _ := tableOfAll().AppendBinary(nil)
	f.Add(enc)
	for _, n := range []int{0, 1, 20} {
		table, _ := sends(n)
		enc, _ = table.AppendBinary(nil)
		f.Add(enc)
	}
	for _, head := range []string{fOfInt, fOfNone} {
		f.Add([]byte("\x01\x01" + head + "\x01\x00\x02\x05"))
	}
	f.Add([]byte("\x01\x02" + fOfInt + gSharing + none))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		table, err := Parse(data)
		if err != nil {
			return
		}
		if enc, _ := table.AppendBinary(nil); !bytes.Equal(enc, data) {
			t.Fatalf("encoded again differently\nin  %x\nout %x", data, enc)
		}
		var again Table
		for _, f := range table.Functions() {
			again.Declare(f)
		}
		var terminal uint32
		for fn, args := range table.All() {
			AppendCall(nil, table.Functions()[fn], args)
			if got := again.InternRun(fn, table.Count(terminal), args...); got != terminal {
				t.Fatalf("signature %d became %d", terminal, got)
			}
			terminal++
		}
		if !again.Equal(table) {
			t.Fatalf("made again as %+v, want %+v", &again, table)
		}
	})
}

// FuzzRoundTrip gives the property in cst_test.go to the coverage-guided fuzzer.
func FuzzRoundTrip(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testRoundTrip)) }
