package report

import "testing"

func TestFormat(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{duration(0), "0 ns"}, {duration(7.25), "7.2 ns"}, {duration(999), "999 ns"}, {duration(1000), "1.00 µs"},
		{duration(1_250_000), "1.25 ms"}, {duration(-12_500), "−12.5 µs"}, {duration(999_999), "1.00 ms"},
		{duration(3_600e9), "3,600 s"}, {duration(12.34e9), "12.3 s"},
		{size(0), "0 B"}, {size(999), "999 B"}, {size(1200), "1.20 kB"}, {size(5.51e6), "5.51 MB"}, {size(1.8e19), "18.0 EB"},
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(1<<64 - 1), "18,446,744,073,709,551,615"},
		{plural(1, "rank"), "1 rank"}, {plural(1200, "rank"), "1,200 ranks"},
		{percent(1, 3), "33.3 %"}, {percent(1, 1e6), "< 0.1 %"}, {percent(0, 3), "0.0 %"}, {percent(1, 0), ""},
		{printable("MPI_Send"), "MPI_Send"}, {printable("a\x00b"), `"a\x00b"`}, {printable("\u202eabc"), `"\u202eabc"`}, {printable("\xff"), `"\xff"`},
	} {
		if c.got != c.want {
			t.Errorf("%q, not %q", c.got, c.want)
		}
	}
	if long := printable(string(make([]byte, 1<<20))); len([]rune(long)) != maxText+1 {
		t.Errorf("%d characters of a long text", len([]rune(long)))
	}
}
