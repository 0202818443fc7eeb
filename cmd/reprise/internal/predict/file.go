package predict

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/rankenc"
)

// A machineFile is the parameters of a machine as a file has them. What it does not have is as in
// [loggps.Default].
type machineFile struct {
	RanksPerNode *int64                    `toml:"ranks_per_node"`
	Mapping      string                    `toml:"mapping"`
	Between      *linkFile                 `toml:"between"`
	Within       *linkFile                 `toml:"within"`
	Compute      computeFile               `toml:"compute"`
	Collectives  map[string]string         `toml:"collectives"`
	Besides      map[string]map[string]any `toml:"besides"` // times by size
}

type computeFile struct {
	Speed     any            `toml:"speed"`
	Factor    any            `toml:"factor"`
	Ranks     map[string]any `toml:"ranks"`
	Functions map[string]any `toml:"functions"`
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

// ParseMachine returns the parameters that the text of a file has.
func ParseMachine(path string, data []byte) (loggps.Parameters, error) {
	p := loggps.Default()
	var (
		file machineFile
		raw  map[string]any
	)
	read, err := toml.Decode(string(data), &raw)
	if err == nil {
		if err := checkTables(path, data, read); err != nil {
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
		return p, fmt.Errorf("%s: no parameter is called %s: docs/predict.md has them",
			lineOf(path, data, unknown[0]), unknown[0])
	}
	err = file.set(&p)
	if wrong := new(keyError); errors.As(err, &wrong) {
		return p, fmt.Errorf("%s: %w", lineOf(path, data, wrong.key), err)
	}
	if err == nil {
		_, err = loggps.New(p, 1, nil)
	}
	if err != nil {
		return p, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "loggps: "))
	}
	return p, nil
}

// checkTables returns an error if a file has something else where a table belongs.
func checkTables(path string, data []byte, read toml.MetaData) error {
	for _, key := range read.Keys() {
		name := key.String()
		switch {
		case slices.Contains([]string{"between", "within", "compute", "compute.ranks", "compute.functions",
			"collectives", "besides"}, name),
			len(key) == 2 && key[0] == "besides":
			if read.Type(key...) != "Hash" {
				return fmt.Errorf("%s: %s is a table: docs/predict.md shows what is in it",
					lineOf(path, data, key), name)
			}
		}
	}
	return nil
}

// set sets parameters to those of a file.
func (m *machineFile) set(p *loggps.Parameters) error {
	if m.RanksPerNode != nil {
		if *m.RanksPerNode < 1 || *m.RanksPerNode > rankenc.MaxRank {
			return ofKey("ranks_per_node", fmt.Errorf("%d is not from 1 to %d", *m.RanksPerNode, rankenc.MaxRank))
		}
		p.RanksPerNode = int(*m.RanksPerNode)
	}
	switch m.Mapping {
	case "", "block":
	case "cyclic":
		p.Cyclic = true
	default:
		return ofKey("mapping", fmt.Errorf("it is block or cyclic, not %q", m.Mapping))
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
			return ofKey(l.name, err)
		}
	}
	if err := m.setCollectives(p); err != nil {
		return err
	}
	if err := m.Compute.set(p); err != nil {
		return ofKey("compute", err)
	}
	return nil
}

// setCollectives sets the algorithms of collective operations, and what these take besides their messages.
func (m *machineFile) setCollectives(p *loggps.Parameters) error {
	p.Collectives = make(map[string]loggps.Algorithm)
	for _, operation := range slices.Sorted(maps.Keys(m.Collectives)) {
		p.Collectives[operation] = loggps.Algorithm(m.Collectives[operation])
		if err := check(*p); err != nil {
			return ofKey("collectives", ofKey(operation, err))
		}
	}
	p.Besides = make(map[string]loggps.Besides)
	for _, operation := range slices.Sorted(maps.Keys(m.Besides)) {
		b, err := besidesOfFile(m.Besides[operation])
		if err == nil {
			p.Besides[operation] = b
			err = check(*p)
		}
		if err != nil {
			return ofKey("besides", ofKey(operation, err))
		}
	}
	return nil
}

// check returns what is wrong with parameters.
func check(p loggps.Parameters) error {
	if _, err := loggps.New(p, 1, nil); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "loggps: "))
	}
	return nil
}

// besidesOfFile returns what an operation takes besides its messages, from times by size.
func besidesOfFile(times map[string]any) (loggps.Besides, error) {
	var b loggps.Besides
	for _, size := range slices.Sorted(maps.Keys(times)) {
		bytes, err := cli.Quantity(size, cli.ByteUnits)
		o := loggps.OfSize{Bytes: bytes}
		if err == nil {
			err = setTime(&o.Time, times[size])
		}
		if err != nil {
			return nil, ofKey(size, err)
		}
		b = append(b, o)
	}
	slices.SortFunc(b, func(x, y loggps.OfSize) int { return cmp.Compare(x.Bytes, y.Bytes) })
	return b, nil
}

// set sets the speed, and the factors on computing.
func (c *computeFile) set(p *loggps.Parameters) (err error) {
	if c.Speed != nil {
		if p.Speed, err = cli.Quantity(c.Speed, cli.SpeedUnits); err == nil && p.Speed == 0 {
			err = errors.New("there is none")
		}
		if err != nil {
			return ofKey("speed", err)
		}
	}
	if c.Factor != nil {
		if p.Compute, err = factorOf(c.Factor); err != nil {
			return ofKey("factor", err)
		}
	}
	for _, set := range slices.Sorted(maps.Keys(c.Ranks)) {
		ranks, err := rankenc.SetOfText(set, rankenc.MaxRank+1)
		if err != nil {
			return ofKey("ranks", ofKey(set, errors.New(strings.TrimPrefix(err.Error(), "rankenc: "))))
		}
		factor, err := factorOf(c.Ranks[set])
		if err != nil {
			return ofKey("ranks", ofKey(set, err))
		}
		p.OfRanks = append(p.OfRanks, loggps.RankFactor{Ranks: ranks, Factor: factor})
	}
	p.OfFunction = make(map[string]loggps.Factor)
	for _, function := range slices.Sorted(maps.Keys(c.Functions)) {
		if p.OfFunction[function], err = factorOf(c.Functions[function]); err != nil {
			return ofKey("functions", ofKey(function, err))
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
			return ofKey(t.name, err)
		}
	}
	if err := setBandwidth(&link.Bandwidth, l.Bandwidth); err != nil {
		return ofKey("bandwidth", err)
	}
	for i, file := range l.Larger {
		larger := loggps.Larger{Bandwidth: link.Bandwidth}
		if err := file.set(&larger); err != nil {
			return ofKey(nth("larger", i), err)
		}
		if i > 0 && larger.Than <= link.Larger[i-1].Than {
			return ofKey(nth("larger", i), ofKey("than",
				fmt.Errorf("%v is not more than that of the table before: smaller sizes come first", file.Than)))
		}
		link.Larger = append(link.Larger, larger)
	}
	link.Copied = l.Copied
	if l.EagerLimit != nil {
		switch v, err := cli.Quantity(l.EagerLimit, cli.ByteUnits); {
		case l.EagerLimit == "inf" || l.EagerLimit == math.Inf(1):
			link.EagerLimit = 0
		case err != nil:
			return ofKey("eager_limit", fmt.Errorf("%w, or inf", err))
		case v == 0: // every message waits
			link.EagerLimit = -1
		default:
			link.EagerLimit = v
		}
	}
	return nil
}

func (l *largerFile) set(larger *loggps.Larger) (err error) {
	if l.Than == nil {
		return errors.New("than is missing: the size beyond which the cost applies")
	}
	if larger.Than, err = cli.Quantity(l.Than, cli.ByteUnits); err != nil {
		return ofKey("than", err)
	}
	if err := setTime(&larger.Latency, l.Latency); err != nil {
		return ofKey("latency", err)
	}
	if err := setBandwidth(&larger.Bandwidth, l.Bandwidth); err != nil {
		return ofKey("bandwidth", err)
	}
	return nil
}

// setTime sets a time to that in a file, unless it has none.
func setTime(to *replay.Time, value any) error {
	if value == nil {
		return nil
	}
	ps, err := cli.Quantity(value, cli.TimeUnits)
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
	switch v, err := cli.Quantity(value, cli.BandwidthUnits); {
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
