package primed

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/wire"
)

func equal(a, b []Section) bool {
	return slices.EqualFunc(a, b, func(s, u Section) bool {
		return s.Kind == u.Kind && s.Key == u.Key && bytes.Equal(s.Content, u.Content)
	})
}

// TestRoundTrip writes and reads sections, and those of the prior itself.
func TestRoundTrip(t *testing.T) {
	content := rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 0, 300),
		rapid.Map(rapid.IntRange(0, len(prior)), func(n int) []byte {
			return prior[n:min(n+300, len(prior))]
		}))
	section := rapid.Custom(func(t *rapid.T) Section {
		return Section{Kind: rapid.Uint32().Draw(t, "kind"), Key: rapid.Uint64().Draw(t, "key"),
			Content: content.Draw(t, "content")}
	})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(section, 0, 6).Draw(t, "sections")
		data := Append([]byte("before"), list)
		got, err := Parse(data[len("before"):], 1<<12)
		if err != nil || !equal(got, list) {
			t.Fatalf("%v is read as %v, %v", list, got, err)
		}
		last := 0
		for _, s := range got {
			if s.Offset < last || s.Offset > len(data)-len("before") {
				t.Fatalf("a section begins at %d after %d, of %d bytes", s.Offset, last, len(data))
			}
			last = s.Offset
		}
	})
}

// TestManyBytes has more contexts than there are buckets, and more bytes than a match can begin in.
func TestManyBytes(t *testing.T) {
	content := make([]byte, 2*maxHistory)
	x := uint64(1)
	for i := range content {
		if x = mixed(x); i%3 > 0 {
			content[i] = byte(x)
		}
	}
	list := []Section{{Kind: 3, Content: content}}
	data := Append(nil, list)
	if got, err := Parse(data, len(content)+3); err != nil || !equal(got, list) {
		t.Fatal("not what was written: ", err)
	}
	if _, err := Parse(data, len(content)+2); !errors.Is(err, wire.ErrLimit) {
		t.Errorf("one byte too many: %v", err)
	}
}

// TestSame writes the same bytes whatever was written before, from several goroutines.
func TestSame(t *testing.T) {
	list := []Section{{Kind: 1, Content: []byte("what is written again")}, {Kind: 40, Key: 7, Content: prior}}
	want := Append(nil, list)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for range 4 {
				Append(nil, []Section{{Kind: uint32(i), Content: []byte{byte(i), 1, 2, 3}}})
				_, _ = Parse([]byte{byte(i), 1, 2, 3, 4, 5}, 1<<10)
				if !bytes.Equal(Append(nil, list), want) {
					t.Error("other bytes")
				}
			}
		})
	}
	wait.Wait()
}

// TestFrozen checks that what was written with this prior and model can still be read.
func TestFrozen(t *testing.T) {
	const want = "118aa93d06a9c64ce37a090fb4beb8fb0be0580be785cd6f96efec38b873868b"
	content := bytes.Repeat([]byte("MPI_Send \x00\x01\x02\x80 "), 100)
	data := Append(nil, []Section{{Kind: 1, Content: content}, {Kind: 3, Key: 1, Content: prior},
		{Kind: 99, Content: content[:50]}})
	if sum := fmt.Sprintf("%x", sha256.Sum256(data)); sum != want {
		t.Errorf("the prior or the model is another: %s", sum)
	}
}

// TestRefuse reads what nothing writes.
func TestRefuse(t *testing.T) {
	list := []Section{{Kind: 1, Content: []byte("some content, and more")}, {Kind: 2, Content: []byte("other content")}}
	data := Append(nil, list)
	for n := range data {
		if got, err := Parse(data[:n], 1<<10); err == nil && equal(got, list) {
			t.Errorf("%d bytes of %d are read", n, len(data))
		}
	}
	if _, err := Parse(append(data, 1), 1<<10); err == nil {
		t.Error("a byte too many is read")
	}
	for _, err := range []error{wire.ErrCorrupt, wire.ErrLimit} {
		seen := false
		for i := range 1 << 12 {
			_, got := Parse([]byte{byte(i), byte(i >> 4), byte(3 * i), 77}, 100)
			seen = seen || errors.Is(got, err)
		}
		if !seen {
			t.Errorf("nothing is refused with %q", err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{})
	f.Add(Append(nil, []Section{{Kind: 1, Content: []byte("content")}}))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		list, err := Parse(data, 1<<10)
		if err != nil {
			return
		}
		if again := Append(nil, list); !bytes.Equal(again, data) {
			t.Errorf("%x is read, and written as %x", data, again)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	benchmark(b, func(list []Section, _ []byte) { Append(nil, list) })
}

func BenchmarkParse(b *testing.B) {
	benchmark(b, func(_ []Section, data []byte) { _, _ = Parse(data, 1<<12) })
}

func benchmark(b *testing.B, f func([]Section, []byte)) {
	list := []Section{{Kind: 1, Content: prior[:min(500, len(prior))]}}
	data := Append(nil, list)
	b.SetBytes(int64(len(list[0].Content)))
	for b.Loop() {
		f(list, data)
	}
}

// BenchmarkPrior makes a model that has read the prior, as once in a process.
func BenchmarkPrior(b *testing.B) {
	b.SetBytes(int64(len(prior)))
	for b.Loop() {
		learned(prior)
	}
}
