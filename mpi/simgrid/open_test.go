package simgrid

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/reprise-trace/reprise/internal/wire"
)

func gzipped(t testing.TB, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstandard(t testing.TB, s string, o ...zstd.EOption) string {
	t.Helper()
	w, err := zstd.NewWriter(nil, o...)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(s), nil))
}

// files writes files into a new directory and returns it.
func files(t testing.TB, contents map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, s := range contents {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(s), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOpen(t *testing.T) {
	rank := func(n int) string { return fmt.Sprintf("%d init\n%d waitall %d\n%d finalize\n", n, n, n, n) }
	var ten, list string
	tens := make(map[string]string)
	for n := range 11 {
		name := fmt.Sprintf("t_files/0_rank-%d.txt", n+1)
		ten += rank(n)
		list += name + "\n"
		tens[name] = rank(n)
	}
	tens["t.txt"] = list
	tests := []struct {
		name  string
		files map[string]string
		paths []string // in the directory, or "-"
		stdin string
		want  string // the text of all calls
	}{
		{"OneFile", map[string]string{"a": ten}, []string{"a"}, "", ten},
		{"OneFileGzip", map[string]string{"a": gzipped(t, ten)}, []string{"a"}, "", ten},
		{"OneFileZstd", map[string]string{"a.gz": zstandard(t, ten)}, []string{"a.gz"}, "", ten}, // the name is wrong
		{"TwoFrames", map[string]string{"a": zstandard(t, rank(0)) + zstandard(t, rank(1))}, []string{"a"},
			"", rank(0) + rank(1)},
		{"SkippableFrame", map[string]string{"a": "\x50\x2a\x4d\x18\x01\x00\x00\x00x" + zstandard(t, ten)},
			[]string{"a"}, "", ten},
		{"TwoMembers", map[string]string{"a": gzipped(t, rank(0)) + gzipped(t, rank(1))}, []string{"a"}, "",
			rank(0) + rank(1)},
		{"Empty", map[string]string{"a": ""}, []string{"a"}, "", ""},
		{"OnlyComments", map[string]string{"a": "# init\n\n"}, []string{"a"}, "", "# init\n\n"},
		{"Stdin", nil, []string{"-"}, ten, ten},
		{"StdinGzip", nil, []string{"-"}, gzipped(t, ten), ten},
		{"Files", map[string]string{"a": rank(1), "b": gzipped(t, rank(0)), "c": zstandard(t, rank(2)),
			"d": zstandard(t, rank(3))},
			[]string{"a", "b", "c", "d", "-"}, rank(4), rank(1) + rank(0) + rank(2) + rank(3) + rank(4)},
		{"List", tens, []string{"t.txt"}, "", ten},
		{"Directory", tens, []string{"t_files"}, "", ten},
		{"DirectoryCompressed", map[string]string{"d/x_rank-2.txt.gz": gzipped(t, rank(1)),
			"d/x_rank-1.txt.zst": zstandard(t, rank(0)), "d/notes": "?"}, []string{"d"}, "", rank(0) + rank(1)},
		{"ListOfCompressed", map[string]string{"l": gzipped(t, "# ranks\r\n\r\n d/b \r\nc"),
			"d/b": zstandard(t, rank(0)),
			"c":   rank(1)}, []string{"l"}, "", rank(0) + rank(1)},
		{"GarbageFirst", map[string]string{"a": "garbage\n0 init\n"}, []string{"a"}, "", "garbage\n0 init\n"},
		{"LongCommentFirst", map[string]string{"a": strings.Repeat("# comment\n", 5000) + rank(1)}, []string{"a"}, "",
			strings.Repeat("# comment\n", 5000) + rank(1)},
		{"NoLineFeed", map[string]string{"a": "0 init", "b": "# b"}, []string{"a", "b"}, "", "0 init\n# b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := files(t, tt.files)
			var paths []string
			for _, p := range tt.paths {
				if p != "-" {
					p = filepath.Join(dir, p)
				}
				paths = append(paths, p)
			}
			r, err := Open(paths, Options{Stdin: iotest.OneByteReader(strings.NewReader(tt.stdin))})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if got := write(t, readAll(t, r)); got != tt.want {
				t.Errorf("read %q\nwant %q", got, tt.want)
			}
			if _, err := r.Read(); err != io.EOF {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

// TestOpenRanks checks the ranks of lines without one in several files.
func TestOpenRanks(t *testing.T) {
	t.Chdir(files(t, map[string]string{"a": "#\n", "b": "7 init\n", "c": "#\n", "d": "#\n9 init\n#\n", "e": "x"}))
	r, err := Open([]string{"a", "b", "c", "d", "e"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []int
	for _, c := range readAll(t, r) {
		got = append(got, c.Rank)
	}
	if want := []int{0, 7, 2, 9, 9, 9, 4}; !reflect.DeepEqual(got, want) {
		t.Errorf("ranks = %v, want %v", got, want)
	}
}

// TestOpenWorkingDirectory reads a list whose paths are relative to the directory
// in which it was written.
func TestOpenWorkingDirectory(t *testing.T) {
	t.Chdir(files(t, map[string]string{"out/t.txt": "out/t_files/a\n", "out/t_files/a": "0 init\n"}))
	r, err := Open([]string{"out/t.txt"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := len(readAll(t, r)); n != 1 {
		t.Errorf("%d calls", n)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := files(t, map[string]string{
		"list": "a\n# no b\n\nb\n", "a": "0 init\n", "empty/x": "", "binary": "a\x00b\n",
		"twice/x_rank-1.txt": "", "twice/y_rank-1.txt": "", "header": "\x1f\x8bxx", "many": "a\na\na\n",
	})
	tests := []struct {
		name  string
		paths []string
		want  string // in the message
		cause error
	}{
		{"NoPaths", nil, "no files", nil},
		{"Missing", []string{"x"}, "x: no such file", fs.ErrNotExist},
		{"MissingInList", []string{"list"}, "list:4:1: rank 1: ", fs.ErrNotExist},
		{"NoRankFiles", []string{"empty"}, "empty: no files named", nil},
		{"SameNumber", []string{"twice"}, "both x_rank-1.txt and y_rank-1.txt", nil},
		{"BinaryList", []string{"binary"}, "binary:1:2: ", wire.ErrCorrupt},
		{"GzipHeader", []string{"header"}, "header: ", nil},
		{"ManyFiles", []string{"many"}, "many:3:1: ", wire.ErrLimit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var paths []string
			for _, p := range tt.paths {
				paths = append(paths, filepath.Join(dir, p))
			}
			r, err := Open(paths, Options{maxRanks: 2})
			if r != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Open = %v, %v, want %q", r, err, tt.want)
			}
			if tt.cause != nil && !errors.Is(err, tt.cause) {
				t.Errorf("err = %#v, want %v", err, tt.cause)
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	o := Options{maxRanks: 10, maxLine: 30}
	tests := []struct {
		name, text string
		calls      int
		line       int64
		column     int
		cause      error
	}{
		{"NUL", "0 init\n0 send\x00 1\n", 1, 2, 7, wire.ErrCorrupt},
		{"NULInRank", "0\x00 init\n", 0, 1, 2, wire.ErrCorrupt},
		{"Escape", "0 init\n\n0 \x1b[0m\n", 2, 3, 3, wire.ErrCorrupt},
		{"Delete", "0 \x7f", 0, 1, 3, wire.ErrCorrupt},
		{"InvalidUTF8", "0 ö\xff\n", 0, 1, 5, wire.ErrCorrupt},
		{"CutUTF8", "0 \xe2\x82\n", 0, 1, 3, wire.ErrCorrupt},
		{"InvalidComment", "# a\n#\xff\n", 1, 2, 2, wire.ErrCorrupt},
		{"RankAtLimit", "9 init\n10 init\n", 1, 2, 1, wire.ErrLimit},
		{"HugeRank", "99999999999999999999999 init\n", 0, 1, 1, wire.ErrLimit},
		{"OverflowingRank", "18446744073709551616 a\n", 0, 1, 1, wire.ErrLimit}, // 2⁶⁴ wraps to zero
		{"LineAtLimit", "0 3456789012345678901234567890\n0 init\n", 2, 0, 0, nil},
		{"LineTooLong", "0 34567890123456789012345678901\n0 init\n", 0, 1, 31, wire.ErrLimit},
		{"LastLineTooLong", "0 init\n0 34567890123456789012345678901", 1, 2, 31, wire.ErrLimit},
		{"LastLineAtLimit", "0 init\n0 3456789012345678901234567890", 2, 0, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(strings.NewReader(tt.text), o)
			calls, err := readSome(r)
			if len(calls) != tt.calls {
				t.Errorf("%d calls, want %d", len(calls), tt.calls)
			}
			if tt.cause == nil && err == nil {
				return
			}
			var se *syntaxError
			if !errors.As(err, &se) || se.line != tt.line || se.column != tt.column || !errors.Is(err, tt.cause) {
				t.Fatalf("err = %v, want %v at %d:%d", err, tt.cause, tt.line, tt.column)
			}
			if !strings.HasPrefix(err.Error(), fmt.Sprintf("simgrid: input:%d:%d: ", tt.line, tt.column)) {
				t.Errorf("message = %v", err)
			}
			if _, again := r.Read(); again != err {
				t.Errorf("read again: %v", again)
			}
		})
	}
}

// TestReadFailures checks errors of the input, which name the file and come after
// the calls before them.
func TestReadFailures(t *testing.T) {
	text := strings.Repeat("0 init\n1 init\n", 50_000)
	boom := errors.New("boom")
	random := make([]byte, 0, 1<<16) // to keep the compressed text longer than what is cut off
	for i := range 1 << 14 {
		random = fmt.Appendf(random, "0 waitall %d\n", int64(i)*int64(i)*2654435761%1000003)
	}
	cut := func(s string) io.Reader { return strings.NewReader(s[:len(s)/2]) }
	tests := []struct {
		name  string
		input io.Reader
		cause error
	}{
		{"Reader", io.MultiReader(strings.NewReader(text), iotest.ErrReader(boom)), boom},
		{"Gzip", cut(gzipped(t, string(random))), io.ErrUnexpectedEOF},
		{"Zstd", cut(zstandard(t, string(random), zstd.WithEncoderLevel(zstd.SpeedFastest))), io.ErrUnexpectedEOF},
		{"NoProgress", io.MultiReader(strings.NewReader(text), stuck{}), io.ErrNoProgress},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(tt.input, Options{})
			calls, err := readSome(r)
			var re *ReadError
			if !errors.As(err, &re) || !errors.Is(err, tt.cause) || re.File != "input" {
				t.Fatalf("err = %v, want %v", err, tt.cause)
			}
			if re.Offset < int64(r.Stats().Bytes) || tt.name != "Zstd" && len(calls) == 0 {
				t.Errorf("%d calls and %d bytes before %v", len(calls), r.Stats().Bytes, err)
			}
		})
	}
}

// stuck is a reader that returns nothing.
type stuck struct{}

func (stuck) Read([]byte) (int, error) { return 0, nil }

// TestDamagedZstd checks that a compressed trace in which a bit changed is refused
// or still gives its text.
func TestDamagedZstd(t *testing.T) {
	text := "0 init\n0 send 1 2 3 4\n0 finalize\n"
	enc := zstandard(t, text)
	for bit := range len(enc) * 8 {
		bad := []byte(enc)
		bad[bit/8] ^= 1 << (bit % 8)
		calls, err := readSome(NewReader(bytes.NewReader(bad), Options{}))
		if got := write(t, calls); err == nil && got != text {
			t.Errorf("with bit %d changed, the text is %q", bit, got)
		}
	}
}

// TestReadMemory checks that what a Reader allocates follows from the text it
// reads, not from the numbers in it, and that compressed input cannot exceed the
// limits.
func TestReadMemory(t *testing.T) {
	window := func(log byte) string { // a zstd frame that declares a window of 1<<log bytes
		return "\x28\xb5\x2f\xfd\x00" + string([]byte{(log - 10) << 3}) + "\x39\x00\x000 init\n"
	}
	tests := []struct {
		name, data string
		limit      uint64
		cause      error
	}{
		{"LargeRank", "16777215 init\n", 1 << 20, nil},
		{"LongLine", zstandard(t, "0 alltoallv"+strings.Repeat(" 0", 8<<20)), 40 << 20, wire.ErrLimit},
		{"LongestLine", zstandard(t, "0 allgatherv"+strings.Repeat(" 0", 2<<20-10)+"\n"), 20*4<<20 + 48<<20, nil},
		{"LongNumber", zstandard(t, strings.Repeat("0", 16<<20)), 40 << 20, wire.ErrLimit},
		{"BlankLines", zstandard(t, strings.Repeat("\n", 1<<10)), 20 << 20, nil},
		{"Window", window(27), 300 << 20, nil},
		{"HugeWindow", window(28), 1 << 20, zstd.ErrWindowSizeExceeded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := readSome(NewReader(strings.NewReader(tt.data), Options{}))
			runtime.ReadMemStats(&after)
			if !errors.Is(err, tt.cause) {
				t.Errorf("err = %v, want %v", err, tt.cause)
			}
			if got := after.TotalAlloc - before.TotalAlloc; got > tt.limit {
				t.Errorf("%d bytes of input: allocated %d bytes", len(tt.data), got)
			} else {
				t.Logf("%d bytes of input: allocated %d bytes", len(tt.data), got)
			}
		})
	}
}

func TestIncomplete(t *testing.T) {
	ok := "0 init\n0 finalize\n"
	tests := []struct {
		name string
		text string
		want []string
	}{
		{"Complete", ok + "1 init\n1 finalize\n", nil},
		{"Empty", "", nil},
		{"Location", "0 location a.c 1\n0 init\n0 location a.c 2\n0 finalize\n", nil},
		{"CommentsAround", "#\n0 init\n#\n0 finalize\n#\n", nil},
		{"OtherSpelling", "0  init\r\n0 finalize ", nil},
		{"TailLost", ok + "1 init\n1 barrier\n", []string{"input: rank 1: no finalize after line 4"}},
		{"TailLostAtLocation", "0 init\n0 finalize\n0 location a.c 3\n",
			[]string{"input: rank 0: no finalize after line 3"}},
		{"HeadLost", "#\n0 barrier\n0 finalize\n", []string{"input: rank 0: no init before line 2"}},
		{"BothLost", "0 barrier\n0 barrier\n",
			[]string{"input: rank 0: no init before line 1, and no finalize at the end"}},
		{"OnlyLocation", "0 location a.c 3\n",
			[]string{"input: rank 0: no init before line 1, and no finalize at the end"}},
		{"CutLine", "0 init\n0 finali", []string{"input: rank 0: no finalize after line 2"}},
		{"RanksAbsent", strings.ReplaceAll(ok, "0", "2") + strings.ReplaceAll(ok, "0", "4"),
			[]string{"ranks 0 to 1: no lines", "rank 3: no lines"}},
		{"Interleaved", "1 init\n0 init\n1 finalize\n0 barrier\n", []string{"input: rank 0: no finalize after line 4"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(strings.NewReader(tt.text), Options{})
			readAll(t, r)
			if got := r.Report(true).Incomplete; !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Incomplete = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestIncompleteList checks that a listed file without lines is reported.
func TestIncompleteList(t *testing.T) {
	t.Chdir(files(t, map[string]string{"l": "a\nb\nc\nd\n", "a": "", "b": "1 init\n1 finalize\n",
		"c": "2 init\n", "d": "#\n"}))
	r, err := Open([]string{"l"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	readAll(t, r)
	want := "[a: rank 0: no lines c: rank 2: no finalize after line 1 d: rank 3: no lines]"
	if got := fmt.Sprint(r.Report(true).Incomplete); got != want {
		t.Errorf("Incomplete = %s\nwant %s", got, want)
	}
	if n := r.Stats().Ranks; n != 2 {
		t.Errorf("%d ranks", n)
	}
}

func TestClose(t *testing.T) {
	r := NewReader(strings.NewReader("0 init\n0 finalize\n"), Options{})
	if _, err := r.Read(); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("err = %v", err)
	}
}
