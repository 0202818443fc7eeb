package merge

import (
	"testing"

	"pgregory.net/rapid"
)

// FuzzSections puts sections into a sound container. Whatever is accepted must
// be the one encoding of what it says: written again, it gives the same file.
func FuzzSections(f *testing.F) {
	f.Add(someRun, someFunctions, someSignatures, twice, someSignatures, thrice, someOrder)
	f.Add(someRun, someFunctions, someSignatures, twice, someSignatures, thrice, "")
	f.Add("\x03\x00\x01\x02\x01", "\x01\x02f\x01\x00\x02p\x05", "\x02\x00\x01\x00\x02", "\x01\x02\x00\x04", "\x01\x00\x01", thrice, "\x01\x03\x08\x01\x00\x08")
	f.Add("\xff\xff\xff\xff\x07\x00\x01\x00\xff\xff\xff\xff\x07", "\x00", "", "", "", "", "")
	f.Fuzz(func(t *testing.T, run, functions, signatures0, grammar0, signatures2, grammar2, order string) {
		var sections []section
		for _, s := range []section{
			{KindRun, 0, run}, {KindFunctions, 0, functions},
			{KindSignatures, 0, signatures0}, {KindGrammar, 0, grammar0},
			{KindSignatures, 2, signatures2}, {KindGrammar, 2, grammar2},
			{KindInterleaving, 0, order},
		} {
			if s.content != "" {
				sections = append(sections, s)
			}
		}
		trace, err := Open(reader(t, forge(t, sections...)))
		if err != nil {
			return
		}
		parts, err := readAll(trace)
		if err != nil {
			return
		}
		if trace.Run().Ranks == 0 {
			return // no part can hold functions
		}
		if !trace.isActive(0) { // the only one to hold them if there are no calls
			parts = append([]Part{readPart(t, trace, 0)}, parts...)
		}
		again := openFile(t, write(t, trace.Run(), parts...))
		for _, s := range sections {
			found, _ := again.file.Lookup(s.kind, s.key)
			content, err := again.file.Content(found)
			if err != nil || string(content) != s.content {
				t.Fatalf("%s %d is %x, written again %x, %v", KindName(s.kind), s.key, s.content, content, err)
			}
		}
	})
}

// FuzzRoundTrip gives the property in merge_test.go to the coverage-guided fuzzer.
func FuzzRoundTrip(f *testing.F) { f.Fuzz(rapid.MakeFuzz(testRoundTrip)) }
