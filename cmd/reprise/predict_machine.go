package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/pflag"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/replay"
	"github.com/reprise-trace/reprise/replay/loggps"
)

// A machineFlags says what machine a run is predicted for.
type machineFlags struct {
	file                        string
	compute, latency, bandwidth string // what of the machine is multiplied
}

func (m *machineFlags) addTo(f *pflag.FlagSet) {
	f.StringVarP(&m.file, "machine", "m", "", "the `file` with the parameters of the machine")
	f.StringVar(&m.compute, "compute", "1x", "multiply the times of computing by a `factor`")
	f.StringVar(&m.latency, "latency", "1x", "multiply the latencies by a `factor`")
	f.StringVar(&m.bandwidth, "bandwidth", "1x", "multiply the bandwidths by a `factor`, or inf")
	f.Lookup("machine").DefValue = "that above"
}

// A machineFile is the parameters of a machine as a file has them. What it does not have is as in
// [loggps.Default].
type machineFile struct {
	RanksPerNode *int64    `toml:"ranks_per_node"`
	Mapping      string    `toml:"mapping"`
	Between      *linkFile `toml:"between"`
	Within       *linkFile `toml:"within"`
	Compute      struct {
		Speed     any            `toml:"speed"`
		Factor    any            `toml:"factor"`
		Ranks     map[string]any `toml:"ranks"`
		Functions map[string]any `toml:"functions"`
	} `toml:"compute"`
	Collectives map[string]string         `toml:"collectives"`
	Besides     map[string]map[string]any `toml:"besides"` // times by size
}

type linkFile struct {
	Latency    any `toml:"latency"`
	Overhead   any `toml:"overhead"`
	Gap        any `toml:"gap"`
	Bandwidth  any `toml:"bandwidth"`
	EagerLimit any `toml:"eager_limit"`

	Larger []largerFile `toml:"larger"`
	Copied bool         `toml:"copied"`
}

type largerFile struct {
	Than      any `toml:"than"`
	Latency   any `toml:"latency"`
	Bandwidth any `toml:"bandwidth"`
}

// parameters returns the parameters of the machine, and lines that describe it.
func (m *machineFlags) parameters() (loggps.Parameters, []string, error) {
	p, name := loggps.Default(), "a default machine"
	if m.file != "" {
		var err error
		if p, err = readMachine(m.file); err != nil {
			return p, nil, named(err)
		}
		name = text.Printable(m.file)
	}
	changed, err := m.change(&p)
	if err != nil {
		return p, nil, usageError{err}
	}
	line := "machine: " + name
	if len(changed) > 0 {
		line += ", with " + strings.Join(changed, ", ")
	}
	mapping := text.Plural(max(p.RanksPerNode, 1), "rank") + " on each node"
	if p.Cyclic {
		mapping += ", cyclic"
	}
	lines := []string{line, "between nodes: " + describeLink(&p.Between) + "; " + mapping}
	if p.RanksPerNode > 1 {
		lines = append(lines, "within a node: "+describeLink(&p.Within))
	}
	return p, lines, nil
}

// change applies the flags, and returns what they change.
func (m *machineFlags) change(p *loggps.Parameters) (changed []string, err error) {
	links := []*loggps.Link{&p.Between, &p.Within}
	compute, err := loggps.ParseFactor(m.compute)
	if err != nil {
		return nil, fmt.Errorf("--compute: %w", err)
	}
	if !compute.IsOne() {
		// That of all ranks multiplies what the file has.
		p.OfRanks = append(slices.Clone(p.OfRanks), loggps.RankFactor{Ranks: rankenc.World(rankenc.MaxRank + 1), Factor: compute})
		changed = append(changed, compute.String()+" computing")
	}
	latency, err := loggps.ParseFactor(m.latency)
	if err != nil {
		return nil, fmt.Errorf("--latency: %w", err)
	}
	for _, l := range links {
		l.Latency = latency.Of(l.Latency)
		for i := range l.Larger {
			l.Larger[i].Latency = latency.Of(l.Larger[i].Latency)
		}
	}
	if !latency.IsOne() {
		changed = append(changed, latency.String()+" latency")
	}
	var bandwidths []*int64
	for _, l := range links {
		bandwidths = append(bandwidths, &l.Bandwidth)
		for i := range l.Larger {
			bandwidths = append(bandwidths, &l.Larger[i].Bandwidth)
		}
	}
	if m.bandwidth == "inf" {
		for _, b := range bandwidths {
			*b = 0
		}
		return append(changed, "unlimited bandwidth"), nil
	}
	bandwidth, err := loggps.ParseFactor(m.bandwidth)
	if err != nil {
		return nil, fmt.Errorf("--bandwidth: %w", err)
	}
	for _, b := range bandwidths {
		if *b == 0 {
			continue
		}
		if *b = int64(bandwidth.Of(replay.Time(*b))); *b == 0 {
			return nil, fmt.Errorf("--bandwidth %s leaves none", m.bandwidth)
		}
	}
	if !bandwidth.IsOne() {
		changed = append(changed, bandwidth.String()+" bandwidth")
	}
	return changed, nil
}

func describeLink(l *loggps.Link) string {
	larger := ""
	for _, of := range l.Larger {
		larger += fmt.Sprintf("; beyond %s %s more, %s", text.Bytes(of.Than), text.Duration(nanoseconds(of.Latency)), describeBandwidth(of.Bandwidth))
	}
	if l.Copied {
		larger += "; receivers copy"
	}
	return fmt.Sprintf("latency %s, overhead %s, gap %s, %s%s", text.Duration(nanoseconds(l.Latency)), text.Duration(nanoseconds(l.Overhead)), text.Duration(nanoseconds(l.Gap)),
		describeBandwidth(l.Bandwidth), larger)
}

func describeBandwidth(b int64) string {
	if b == 0 {
		return "unlimited bandwidth"
	}
	return text.Bytes(b) + "/s"
}

// describeSpeed returns a number of floating-point operations a second as a machine file has it.
func describeSpeed(flops int64) string {
	u := speedUnits[0]
	for _, larger := range speedUnits {
		if float64(flops) >= larger.is {
			u = larger
		}
	}
	return strconv.FormatFloat(float64(flops)/u.is, 'g', 4, 64) + u.name
}

// readMachine reads the parameters in a file.
func readMachine(path string) (loggps.Parameters, error) {
	p := loggps.Default()
	data, err := os.ReadFile(path)
	if err != nil {
		return p, fileError(path, err)
	}
	var (
		file machineFile
		raw  map[string]any
	)
	read, err := toml.Decode(string(data), &raw)
	if err == nil {
		if err := checkTables(path, read); err != nil {
			return p, err
		}
		read, err = toml.Decode(string(data), &file)
	}
	if where := new(toml.ParseError); errors.As(err, where) {
		return p, fmt.Errorf("%s:%d: %s", path, where.Position.Line, where.Message)
	}
	if err != nil {
		return p, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "toml: "))
	}
	if unknown := read.Undecoded(); len(unknown) > 0 {
		return p, fmt.Errorf("%s: no parameter is called %s: docs/predict.md has them", lineWith(path, unknown[0][len(unknown[0])-1]), unknown[0])
	}
	if err := file.set(&p); err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	if _, err := loggps.New(p, 1, nil); err != nil {
		return p, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "loggps: "))
	}
	return p, nil
}

// checkTables returns an error if a file has something else where a table belongs.
func checkTables(path string, read toml.MetaData) error {
	for _, key := range read.Keys() {
		name := key.String()
		switch {
		case slices.Contains([]string{"between", "within", "compute", "compute.ranks", "compute.functions", "collectives", "besides"}, name),
			len(key) == 2 && key[0] == "besides":
			if read.Type(key...) != "Hash" {
				return fmt.Errorf("%s: %s is a table: docs/predict.md shows what is in it", lineWith(path, key[len(key)-1]), name)
			}
		}
	}
	return nil
}

// set sets parameters to those of a file.
func (m *machineFile) set(p *loggps.Parameters) error {
	if m.RanksPerNode != nil {
		if *m.RanksPerNode < 1 || *m.RanksPerNode > rankenc.MaxRank {
			return fmt.Errorf("ranks_per_node is %d", *m.RanksPerNode)
		}
		p.RanksPerNode = int(*m.RanksPerNode)
	}
	switch m.Mapping {
	case "", "block":
	case "cyclic":
		p.Cyclic = true
	default:
		return fmt.Errorf("mapping is block or cyclic, not %q", m.Mapping)
	}
	for _, l := range []struct {
		name string
		file *linkFile
		link *loggps.Link
	}{{"between", m.Between, &p.Between}, {"within", m.Within, &p.Within}} {
		if l.file == nil {
			continue
		}
		if err := l.file.set(l.link); err != nil {
			return fmt.Errorf("%s.%w", l.name, err)
		}
	}
	p.Collectives = make(map[string]loggps.Algorithm)
	for operation, algorithm := range m.Collectives {
		p.Collectives[operation] = loggps.Algorithm(algorithm)
	}
	p.Besides = make(map[string]loggps.Besides)
	for operation, times := range m.Besides {
		b, err := besidesOfFile(times)
		if err != nil {
			return fmt.Errorf("besides.%s.%w", operation, err)
		}
		p.Besides[operation] = b
	}
	return m.setFactors(p)
}

// besidesOfFile returns what an operation takes besides its messages, from times by size.
func besidesOfFile(times map[string]any) (loggps.Besides, error) {
	var b loggps.Besides
	for _, size := range slices.Sorted(maps.Keys(times)) {
		bytes, err := quantity(size, byteUnits)
		o := loggps.OfSize{Bytes: bytes}
		if err == nil {
			err = setTime(&o.Time, times[size])
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", size, err)
		}
		b = append(b, o)
	}
	slices.SortFunc(b, func(x, y loggps.OfSize) int { return cmp.Compare(x.Bytes, y.Bytes) })
	return b, nil
}

// setFactors sets the speed, and the factors on computing.
func (m *machineFile) setFactors(p *loggps.Parameters) (err error) {
	if m.Compute.Speed != nil {
		if p.Speed, err = quantity(m.Compute.Speed, speedUnits); err == nil && p.Speed == 0 {
			err = errors.New("there is none")
		}
		if err != nil {
			return fmt.Errorf("compute.speed: %w", err)
		}
	}
	if m.Compute.Factor != nil {
		if p.Compute, err = factorOf(m.Compute.Factor); err != nil {
			return fmt.Errorf("compute.factor: %w", err)
		}
	}
	var sets []string
	for set := range m.Compute.Ranks {
		sets = append(sets, set)
	}
	slices.Sort(sets)
	for _, set := range sets {
		ranks, err := rankenc.SetOfText(set, rankenc.MaxRank+1)
		if err != nil {
			return fmt.Errorf("compute.ranks: %s", strings.TrimPrefix(err.Error(), "rankenc: "))
		}
		factor, err := factorOf(m.Compute.Ranks[set])
		if err != nil {
			return fmt.Errorf("compute.ranks of %s: %w", set, err)
		}
		p.OfRanks = append(p.OfRanks, loggps.RankFactor{Ranks: ranks, Factor: factor})
	}
	p.OfFunction = make(map[string]loggps.Factor)
	for function, value := range m.Compute.Functions {
		if p.OfFunction[function], err = factorOf(value); err != nil {
			return fmt.Errorf("compute.functions of %s: %w", function, err)
		}
	}
	return nil
}

// factorOf returns a factor that a file has as a number or a text.
func factorOf(value any) (loggps.Factor, error) {
	if f, ok := value.(float64); ok {
		return loggps.ParseFactor(strconv.FormatFloat(f, 'g', -1, 64))
	}
	return loggps.ParseFactor(fmt.Sprint(value))
}

func (l *linkFile) set(link *loggps.Link) error {
	for _, t := range []struct {
		name  string
		value any
		to    *replay.Time
	}{{"latency", l.Latency, &link.Latency}, {"overhead", l.Overhead, &link.Overhead}, {"gap", l.Gap, &link.Gap}} {
		if err := setTime(t.to, t.value); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if err := setBandwidth(&link.Bandwidth, l.Bandwidth); err != nil {
		return fmt.Errorf("bandwidth: %w", err)
	}
	for _, file := range l.Larger {
		larger := loggps.Larger{Bandwidth: link.Bandwidth}
		if file.Than == nil {
			return errors.New("larger.than is missing: the size beyond which it is so")
		}
		var err error
		if larger.Than, err = quantity(file.Than, byteUnits); err != nil {
			return fmt.Errorf("larger.than: %w", err)
		}
		if err := setTime(&larger.Latency, file.Latency); err != nil {
			return fmt.Errorf("larger.latency: %w", err)
		}
		if err := setBandwidth(&larger.Bandwidth, file.Bandwidth); err != nil {
			return fmt.Errorf("larger.bandwidth: %w", err)
		}
		link.Larger = append(link.Larger, larger)
	}
	link.Copied = l.Copied
	if l.EagerLimit != nil {
		switch v, err := quantity(l.EagerLimit, byteUnits); {
		case l.EagerLimit == "inf" || l.EagerLimit == math.Inf(1):
			link.EagerLimit = 0
		case err != nil:
			return fmt.Errorf("eager_limit: %w, or inf", err)
		case v == 0: // every message waits
			link.EagerLimit = -1
		default:
			link.EagerLimit = v
		}
	}
	return nil
}

// setTime sets a time to that in a file, unless it has none.
func setTime(to *replay.Time, value any) error {
	if value == nil {
		return nil
	}
	ps, err := quantity(value, timeUnits)
	if err != nil {
		return err
	}
	*to = replay.Time(ps)
	return nil
}

// setBandwidth sets a bandwidth to that in a file, unless it has none.
func setBandwidth(to *int64, value any) error {
	if value == nil {
		return nil
	}
	switch v, err := quantity(value, bandwidthUnits); {
	case value == "inf" || value == math.Inf(1):
		*to = 0
	case err == nil && v == 0:
		return errors.New("there is none")
	case err != nil:
		return fmt.Errorf("%w, or inf", err)
	default:
		*to = v
	}
	return nil
}

// A unit is what a number counts: so many of the smallest.
type unit struct {
	name string
	is   float64
}

var (
	timeUnits      = []unit{{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"µs", 1e6}, {"ms", 1e9}, {"s", 1e12}}
	bandwidthUnits = []unit{{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}, {"Gbit/s", 1e9 / 8}}
	speedUnits     = []unit{{"f", 1}, {"kf", 1e3}, {"Mf", 1e6}, {"Gf", 1e9}, {"Tf", 1e12}} // as SimGrid writes them
	byteUnits      = []unit{{"B", 1}, {"kB", 1e3}, {"KiB", 1 << 10}, {"MB", 1e6}, {"MiB", 1 << 20}, {"GB", 1e9}, {"GiB", 1 << 30}}
)

// quantity returns a number with a unit, such as 1.5us, in the smallest unit, rounded. A number alone is in bytes;
// a time needs a unit, unless it is 0.
func quantity(value any, units []unit) (int64, error) {
	written := strings.ReplaceAll(fmt.Sprint(value), " ", "")
	number := strings.TrimRight(written, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµ/")
	name, is := written[len(number):], 0.0
	for _, u := range units {
		if u.name == name || name == "" && u.name[0] == 'B' {
			is = u.is
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err == nil && v == 0 && name == "" {
		return 0, nil
	}
	if v = math.Round(v * is); err != nil || is == 0 || !(v >= 0) || v > 1e18 {
		return 0, fmt.Errorf("%q is not a number with a unit, such as 1.5%s", fmt.Sprint(value), units[len(units)/2].name)
	}
	return int64(v), nil
}
