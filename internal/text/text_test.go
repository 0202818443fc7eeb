package text

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reprise-trace/reprise/rankenc"
)

func TestUnits(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{Duration(0.0), "0 ns"}, {Duration(0.5), "0.50 ns"}, {Duration(7.0), "7 ns"}, {Duration(int64(999)), "999 ns"},
		{Duration(999.4), "999 ns"}, {Duration(1000.0), "1.00 µs"}, {Duration(1254.0), "1.25 µs"},
		{Duration(12_540.0), "12.5 µs"},
		{Duration(999_499.0), "999 µs"}, {Duration(999_500.0), "1.00 ms"}, {Duration(1.5e9), "1.50 s"},
		{Duration(99.96e9), "100 s"},
		{Duration(123456e9), "123,456 s"}, {Duration(-1500.0), "-1.50 µs"}, {Duration(math.Inf(1)), "-"},
		{Duration(int64(math.MinInt64)), "-9,223,372,037 s"},
		{Around(1.74e9, 212e6), "1.74 s ± 212 ms"}, {Around(1.74e9, 80e6), "1.74 s"},
		{Around(0.0, 6e6), "≤ 6.00 ms"}, {Around(0.0, 0.0), "0 ns"},
		{Around(math.Inf(1), math.Inf(1)), "-"},
		{Around(1.74e9, math.Inf(1)), "≈ 1.74 s"},
		{Within(1.74e9, 80e6), "1.74 s ± 80.0 ms"}, {Within(1.74e9, 8e5), "1.74 s"},
		{Efficiency(0.6634, 0), "66.3 %"}, {Efficiency(0.6634, 0.002), "66.3 % ± 0.3 %"},
		{Efficiency(0.6634, 0.02), "66 % ± 3 %"}, {Efficiency(0.6634, 0.3), "-"},
		{Efficiency(0.6634, math.Inf(1)), "≈ 66 %"},

		{Bytes(uint64(0)), "0 B"}, {Bytes(uint64(999)), "999 B"}, {Bytes(uint64(1000)), "1.00 kB"},
		{Bytes(int64(1250)), "1.25 kB"},
		{Bytes(uint64(999_499)), "999 kB"}, {Bytes(uint64(999_500)), "1.00 MB"}, {Bytes(uint64(15_740_655)), "15.7 MB"},
		{Bytes(uint64(math.MaxUint64 - 1)), "18.4 EB"}, {Bytes(uint64(math.MaxUint64)), "≥ 18.4 EB"},

		{Count(0), "0"}, {Count(999), "999"}, {Count(1000), "1,000"}, {Count(-1234567), "-1,234,567"},
		{Count(int64(math.MinInt64)), "-9,223,372,036,854,775,808"},
		{Count(uint64(math.MaxUint64)), "≥ 18,446,744,073,709,551,615"},
		{Plural(1, "rank"), "1 rank"}, {Plural(0, "rank"), "0 ranks"}, {Plural(1200, "rank"), "1,200 ranks"},

		{Percent(1, 3), "33.3 %"}, {Percent(0, 3), "0.0 %"}, {Percent(1, 1_000_000), "< 0.1 %"}, {Percent(1, 0), ""},
		{Percent(uint64(1), math.MaxUint64), ""}, {Percent(1.0, math.Inf(1)), ""},
		{Ratio(10_000, 3), "3,333:1"}, {Ratio(10, 3), "3.33:1"}, {Ratio(0, 3), "-"}, {Ratio(math.MaxUint64, 3), "-"},

		{Error(0), "exact"}, {Error(0.1), "at most 10 % off"},
		{Printable("MPI_Send"), "MPI_Send"}, {Printable("a\x00b"), `"a\x00b"`},
		{Printable("\u202eabc"), `"\u202eabc"`}, {Printable("\xff"), `"\xff"`},
		{Escape("a\tb\nc"), "a\tb\n  c"}, {Escape("é\x1b[2J\"\u202e\xff\r\n\n"), "é\\x1b[2J\"\\u202e\\xff\\r\n  \n  "},
		{Cut("größer", 6), "größer"}, {Cut("größer", 5), "größ…"},
		{CutList("0, 10-12, 17", 8), "0, …"}, {CutList("0, 1", 8), "0, 1"},
		{Ranks(rankenc.World(1)), "rank 0"}, {Ranks(rankenc.World(4)), "ranks 0-3"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

// A screen is a terminal of some columns.
type screen struct {
	bytes.Buffer
	columns int
	styled  bool
}

func (s *screen) Columns() int { return s.columns }

// Style marks titles.
func (s *screen) Style(text string, style Style) string {
	if style == Title && s.styled {
		return "\x1b[1m" + text + "\x1b[0m"
	}
	return text
}

// Character gives Chinese characters two columns.
func (s *screen) Character(text string) (bytes, columns int) {
	r, n := utf8.DecodeRuneInString(text)
	if r > 0x2e80 {
		return n, 2
	}
	return n, 1
}

func TestTable(t *testing.T) {
	long := strings.Repeat("x", 60)
	print := func(s *screen, most int) string {
		table := NewTable(s, most, "calls", "", "rank", "<call")
		table.Row(12345, "1.0 %", ID(1234), long)
		table.Row(uint64(6), "", "-", "b")
		if err := table.Close(); err != nil {
			t.Error(err)
		}
		return s.String()
	}
	want := "   calls         rank  call\n  12,345  1.0 %  1234  " + long + "\n       6            -  b\n"
	if got := print(&screen{}, All); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	cut := strings.Replace(want, long, strings.Repeat("x", 31)+"…"+strings.Repeat("x", 15), 1)
	if got := print(&screen{columns: 70}, All); got != cut {
		t.Errorf("a terminal has\n%swant\n%s", got, cut)
	}
	first := strings.Replace(want, "       6            -  b\n", "\nand 1 more: --all shows them\n", 1)
	if got := print(&screen{}, 1); got != first {
		t.Errorf("one row is\n%swant\n%s", got, first)
	}
	var none bytes.Buffer
	if NewTable(&none, All, "calls").Close(); none.Len() > 0 {
		t.Errorf("a table without rows is %q", none.String())
	}
}
