package format

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"pgregory.net/rapid"
)

// write returns a file of items.
func write(t rapid.TB, o Options, items []item) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := NewWriter(&buf, o)
	for _, it := range items {
		if err := w.Add(it.kind, it.key, it.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// open returns a Reader of file.
func open(t rapid.TB, file []byte, o Options) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(file), int64(len(file)), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// salvageOf returns what Salvage finds in file.
func salvageOf(t rapid.TB, file []byte, o Options) (*Reader, []Loss) {
	t.Helper()
	r, losses, err := Salvage(bytes.NewReader(file), int64(len(file)), o)
	if err != nil {
		t.Fatal(err)
	}
	return r, losses
}

// checkItems checks that r holds items, in that order, and nothing else.
func checkItems(t rapid.TB, r *Reader, items []item) {
	t.Helper()
	if len(r.entries) != len(items) {
		t.Fatalf("%d sections, want %d", len(r.entries), len(items))
	}
	for i, s := range r.All() {
		want := items[i]
		if s.Kind != want.kind || s.Key != want.key || s.Len != int64(len(want.content)) {
			t.Fatalf("section %d = %+v, want kind %d, key %d, %d bytes", i, s, want.kind, want.key, len(want.content))
		}
		if found, ok := r.Lookup(s.Kind, s.Key); !ok || found != s {
			t.Fatalf("Lookup = %+v, %v, want %+v", found, ok, s)
		}
		got, err := r.Content(s)
		if err != nil || string(got) != string(want.content) {
			t.Fatalf("content of section %d = %q, %v, want %q", i, got, err, want.content)
		}
	}
}

// samples is a small file of everything there is: all encodings, an empty
// section, large numbers, a shared content.
var samples = []item{
	{1, 0, []byte("a section that is stored as it is")},
	{1, 1, bytes.Repeat([]byte("compressible "), 20)},
	{2, 1 << 63, bytes.Repeat([]byte("compressible "), 20)},
	{1<<32 - 1, 0, nil},
	{0, 1<<64 - 1, []byte{0xf5}},
	{3, 7, bytes.Repeat([]byte{7}, 300)},
	{3, 6, nil},
}

// encodings are those of records, forms also that of small containers.
var (
	encodings = []Encoding{Zstd, None, LZ4}
	forms     = append(encodings, Primed)
)

func TestText(t *testing.T) {
	want := `container version=1 sections=7 size=233
section kind=1 key=0 offset=8 size=44 encoding=none len=33
section kind=1 key=1 offset=52 size=37 encoding=zstd len=260
section kind=2 key=9223372036854775808 offset=89 size=18 same=52 len=260
section kind=4294967295 key=0 offset=107 size=15 encoding=none len=0
section kind=0 key=18446744073709551615 offset=122 size=21 encoding=none len=1
section kind=3 key=7 offset=143 size=17 encoding=zstd len=300
section kind=3 key=6 offset=160 size=9 same=107 len=0
`
	file := write(t, Options{}, samples)
	got, err := open(t, file, Options{}).AppendText(nil)
	if err != nil || string(got) != want {
		t.Errorf("text = %s, %v, want %s", got, err, want)
	}
	r, losses := salvageOf(t, file, Options{})
	if got, _ := r.AppendText(nil); string(got) != want || len(losses) > 0 {
		t.Errorf("salvaged text = %s, losses %v, want %s", got, losses, want)
	}
}

// TestLayout checks a file byte by byte. Its checksums are computed here anew.
func TestLayout(t *testing.T) {
	file := write(t, Options{}, []item{{2, 5, []byte("one")}, {3, 200, []byte("one")}})
	sum := func(off int, covered string) []byte {
		context := "\x8frpz\r\n\n\x01" + string([]byte{byte(off), 0, 0, 0, 0, 0, 0, 0})
		table := crc32.MakeTable(crc32.Castagnoli)
		return binary.LittleEndian.AppendUint32(nil, crc32.Checksum([]byte(context+covered), table))
	}
	head := "\xf5\x9d" + "\x11" + "\x05" + "\x03"
	record := head + string(sum(8, head)[:2]) + "one"
	record += string(sum(8, record))
	shared := "\xf5\x9d" + "\x1b" + "\xc8\x01" + "\x0e"
	shared += string(sum(22, shared))
	index := "\x02" + "\x11\x1b" + "\x0a\x86\x03" + "\x03\x01" +
		"\x08\x00\x00\x00" + "\x08\x00\x00\x00"
	want := "\x8frpz\r\n\n\x01" + record + shared + index + string(sum(32, index)) + "\x8fzpr"
	if string(file) != want {
		t.Errorf("file is\n%q, want\n%q", file, want)
	}
}

func TestEncodings(t *testing.T) {
	var noise []byte // does not compress
	for i := uint32(1); len(noise) < 1000; i++ {
		noise = append(noise, byte(i*i*2654435761>>24))
	}
	text := bytes.Repeat([]byte("call return "), 100)
	tests := []struct {
		name    string
		o       Encoding
		content []byte
		want    Encoding
	}{
		{"Zstd", Zstd, text, Zstd},
		{"LZ4", LZ4, text, LZ4},
		{"None", None, text, None},
		{"ZstdNoise", Zstd, noise, None},
		{"LZ4Noise", LZ4, noise, None},
		{"ZstdEmpty", Zstd, nil, None},
		{"LZ4Empty", LZ4, nil, None},
		{"ZstdByte", Zstd, []byte{1}, None},
		{"LZ4Byte", LZ4, []byte{1}, None},
		{"ZstdShortRun", Zstd, bytes.Repeat([]byte{1}, 5), None}, // 4 bytes and a length
		{"ZstdRun", Zstd, bytes.Repeat([]byte{1}, 6), Zstd},
		{"ZstdWindow", Zstd, bytes.Repeat(noise, 9<<10), Zstd}, // more than a window
		{"LZ4Long", LZ4, bytes.Repeat(noise, 1<<10), LZ4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			items := []item{{1, 2, tt.content}}
			r := open(t, write(t, Options{Encoding: tt.o}, items), Options{})
			checkItems(t, r, items)
			if s, _ := r.Lookup(1, 2); s.Encoding != tt.want || s.shared() {
				t.Errorf("stored as %+v, want %v", s, tt.want)
			}
		})
	}
}

// itemsGen draws sections with distinct names, in any order, whose contents are
// often equal and often compressible.
var itemsGen = rapid.Custom(func(t *rapid.T) []item {
	content := rapid.Custom(func(t *rapid.T) []byte {
		phrase := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "phrase")
		return bytes.Repeat(phrase, rapid.IntRange(1, 60).Draw(t, "repeats"))
	})
	pool := rapid.SliceOfN(content, 1, 6).Draw(t, "contents")
	names := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) name {
		return name{
			kind: Kind(rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32()).Draw(t, "kind")),
			key:  rapid.OneOf(rapid.Uint64Range(0, 5), rapid.Uint64()).Draw(t, "key"),
		}
	}), 0, 20, func(n name) name { return n }).Draw(t, "names")
	var items []item
	for _, n := range names {
		items = append(items, item{n.kind, n.key, rapid.SampledFrom(pool).Draw(t, "content")})
	}
	return items
})

func testRoundTrip(t *rapid.T) {
	items := itemsGen.Draw(t, "items")
	o := Options{Encoding: rapid.SampledFrom(forms).Draw(t, "encoding")}
	file := write(t, o, items)
	if again := write(t, o, items); !bytes.Equal(file, again) {
		t.Fatalf("the same sections gave\n%x\n%x", file, again)
	}
	r := open(t, file, Options{})
	checkItems(t, r, items)
	if r.small == nil {
		checkShared(t, r, items)
	}

	salvaged, losses := salvageOf(t, file, Options{})
	if len(losses) > 0 {
		t.Fatalf("losses of an intact file: %v", losses)
	}
	if !slices.Equal(salvaged.entries, r.entries) {
		t.Fatalf("salvaged %+v, want %+v", salvaged.entries, r.entries)
	}
	checkItems(t, salvaged, items)
}

func TestRoundTrip(t *testing.T) { rapid.Check(t, testRoundTrip) }

// checkShared checks that equal contents of records, and no others, are stored once.
func checkShared(t rapid.TB, r *Reader, items []item) {
	t.Helper()
	first := make(map[string]int64)
	for i, s := range r.All() {
		content := string(items[i].content)
		if _, ok := first[content]; !ok {
			first[content] = s.Offset
		}
		if s.Source != first[content] {
			t.Fatalf("section %d is held at offset %d, want %d", i, s.Source, first[content])
		}
		if s.shared() && s.Size > 40 {
			t.Fatalf("section %d takes %d bytes, though its content is shared", i, s.Size)
		}
	}
}

// TestDeterministic checks that neither what coders did before nor the number
// of processors changes a file.
func TestDeterministic(t *testing.T) {
	var items []item
	for i := range 40 {
		line := fmt.Sprintf("rank %d calls, waits and calls again ", i)
		items = append(items, item{1, uint64(i), []byte(strings.Repeat(line, 1+i*i*3))})
	}
	for _, e := range encodings {
		want := write(t, Options{Encoding: e}, items)
		for _, procs := range []int{1, 2} {
			t.Run(fmt.Sprintf("%v/procs=%d", e, procs), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				reversed := slices.Clone(items)
				slices.Reverse(reversed)
				write(t, Options{Encoding: e}, reversed) // leaves coders in another state
				if got := write(t, Options{Encoding: e}, items); !bytes.Equal(got, want) {
					t.Error("the file differs")
				}
			})
		}
		runtime.GC()
		runtime.GC() // empties the pools
		if got := write(t, Options{Encoding: e}, items); !bytes.Equal(got, want) {
			t.Errorf("%v: the file differs with new coders", e)
		}
	}
}

// A countingReader counts the bytes read from it.
type countingReader struct {
	io.ReaderAt
	mu sync.Mutex
	n  int
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.mu.Lock()
	c.n += n
	c.mu.Unlock()
	return n, err
}

// TestReadsLittle checks that opening a file reads its index and no more, and
// that content is read alone.
func TestReadsLittle(t *testing.T) {
	var items []item
	for i := range 32 {
		content := bytes.Repeat([]byte{byte(i), 1, 2, byte(i), 3}, 50_000)
		items = append(items, item{1, uint64(i), content})
	}
	file := write(t, Options{Encoding: None}, items)
	c := &countingReader{ReaderAt: bytes.NewReader(file)}
	r, err := NewReader(c, int64(len(file)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := int(headerLen) + tailLen; len(file) < 8_000_000 || c.n > want {
		t.Errorf("open read %d bytes of %d, want at most %d", c.n, len(file), want)
	}
	c.n = 0
	s, _ := r.Lookup(1, 9)
	if _, err := r.Content(s); err != nil || int64(c.n) != s.Size {
		t.Errorf("content read %d bytes, %v, want %d", c.n, err, s.Size)
	}
}

// TestLargeIndex checks an index that is longer than the first read, compressed
// and not, in an order other than that of the names.
func TestLargeIndex(t *testing.T) {
	var items []item
	for i := range 3000 {
		items = append(items, item{Kind(i % 3), uint64(i * i % 65537), []byte(fmt.Sprint(i / 4))})
	}
	for _, e := range encodings {
		file := write(t, Options{Encoding: e}, items)
		checkItems(t, open(t, file, Options{}), items)
		f, err := parseFooter(file[int64(len(file))-footerLen:], int64(len(file)))
		if err != nil || f.stored <= tailLen || (f.stored < f.content) != (e == Zstd) {
			t.Errorf("%v: footer %+v, %v", e, f, err)
		}
	}
}

func TestConcurrent(t *testing.T) {
	for _, e := range encodings {
		r := open(t, write(t, Options{Encoding: e}, samples), Options{})
		var wg sync.WaitGroup
		for range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i, s := range r.All() {
					if got, err := r.Content(s); err != nil || !bytes.Equal(got, samples[i].content) {
						t.Errorf("content = %q, %v", got, err)
					}
				}
			}()
		}
		wg.Wait()
	}
}

func TestAllStops(t *testing.T) {
	n := 0
	for range open(t, write(t, Options{}, samples), Options{}).All() {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("yielded %d sections, want 2", n)
	}
}

func TestLookupMissing(t *testing.T) {
	r := open(t, write(t, Options{}, samples), Options{})
	for _, n := range []name{{2, 1}, {0, 2}, {0, 1 << 31}} {
		if s, ok := r.Lookup(n.kind, n.key); ok {
			t.Errorf("Lookup(%d, %d) = %+v", n.kind, n.key, s)
		}
		if _, err := r.Content(Section{Kind: n.kind, Key: n.key}); err == nil {
			t.Errorf("Content of kind %d and key %d without error", n.kind, n.key)
		}
	}
}
