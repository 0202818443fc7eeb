package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
)

// A unit is what a number counts: so many of the smallest.
type unit struct {
	Name string
	Is   float64
}

var (
	TimeUnits      = []unit{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"µs", 1e6}, {"ms", 1e9}, {"s", 1e12}}
	BandwidthUnits = []unit{{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12},
		{"Gbit/s", 1e9 / 8}}
	SpeedUnits = []unit{{"f", 1}, {"kf", 1e3}, {"Mf", 1e6}, {"Gf", 1e9}, {"Tf", 1e12}} // as SimGrid writes them
	ByteUnits  = []unit{{"B", 1}, {"kB", 1e3}, {"KiB", 1 << 10}, {"MB", 1e6}, {"MiB", 1 << 20},
		{"GB", 1e9}, {"GiB", 1 << 30}}
)

// Quantity returns a number with a unit, such as 1.5us, in the smallest unit, rounded. A number alone is in
// bytes; a time needs a unit, unless it is 0.
func Quantity(value any, units []unit) (int64, error) {
	written := strings.ReplaceAll(fmt.Sprint(value), " ", "")
	number := strings.TrimRight(written, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµ/")
	name, is := written[len(number):], 0.0
	var names []string
	for _, u := range units {
		if names = append(names, u.Name); u.Name == name || name == "" && u.Name[0] == 'B' {
			is = u.Is
		}
	}
	quoted := strconv.Quote(fmt.Sprint(value))
	switch v, err := strconv.ParseFloat(number, 64); {
	case err != nil:
		return 0, fmt.Errorf("%s is not a number with a unit, such as 1.5%s; units are %s", quoted,
			units[len(units)/2].Name, strings.Join(names, ", "))
	case !(v >= 0): // or NaN
		return 0, fmt.Errorf("%s is below 0", quoted)
	case v == 0 && name == "":
		return 0, nil
	case is == 0 && name == "":
		return 0, fmt.Errorf("%s has no unit: it is one of %s", quoted, strings.Join(names, ", "))
	case is == 0:
		return 0, fmt.Errorf("%s: no unit is called %s: it is one of %s", quoted, name, strings.Join(names, ", "))
	case v*is > 1e18:
		return 0, fmt.Errorf("%s is too much", quoted)
	default:
		return int64(math.Round(v * is)), nil
	}
}

// A ByteFlag is a number of bytes, such as 5MB.
type ByteFlag int64

func (f *ByteFlag) String() string { return strings.ReplaceAll(text.Bytes(int64(*f)), " ", "") }

func (f *ByteFlag) Type() string { return "bytes" }

func (f *ByteFlag) Set(s string) error {
	number := strings.TrimRight(s, "kMGB")
	unit, ok := map[string]float64{"": 1, "B": 1, "k": 1e3, "kB": 1e3, "M": 1e6, "MB": 1e6, "G": 1e9,
		"GB": 1e9}[s[len(number):]]
	v, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(v > 0) || v*unit > 2e9 {
		return errors.New("must be a size of at most 2GB, such as 5MB")
	}
	*f = ByteFlag(v * unit)
	return nil
}
