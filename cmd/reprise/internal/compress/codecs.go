package compress

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/memory"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

func NewCodecs() *cobra.Command {
	var o codecsOptions
	cmd := cli.NewCommand("codecs")
	unit := cli.NewChoice("ns", "us", "ms", "s")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		o.unit = unit.Value
		if len(args) == 0 {
			return cli.BadUsage(errors.New("codecs takes files with times"))
		}
		return o.check()
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return compareCodecs(cmd, args, &o) }
	f := cmd.Flags()
	cli.AddRanks(cmd, &o.ranks)
	f.StringVar(&o.column, "column", "", "`name` or number of a column of a CSV file")
	cli.AddChoice(cmd, unit, "unit", "unit of numbers without one")
	f.StringVar(&o.relative, "error", "10%", "relative `error` of lossy codecs")
	f.BoolVar(&o.json, "json", false, "print as JSON")
	return cmd
}

type codecsOptions struct {
	ranks, column, unit string
	relative            string // error, as 0.1 or 10%
	epsilon             float64
	json                bool
}

func (o *codecsOptions) check() (err error) {
	if o.epsilon, err = cli.ParseError(o.relative); err == nil && o.epsilon == 0 {
		err = errors.New("--error is not 0: exact codecs are compared as well")
	}
	if err != nil {
		return cli.BadUsage(err)
	}
	return nil
}

// A userColumn is times that are compared together.
type userColumn struct {
	name  string
	parts []timing.Column[int64] // of ranks
}

// A CodecsTable is what codecs tells.
type CodecsTable struct {
	Schema  int             `json:"schema"`
	Error   float64         `json:"relative_error"`
	Columns []codecsOfTimes `json:"columns"`
}

type codecsOfTimes struct {
	Name   string              `json:"column"`
	Values int                 `json:"values"`
	Codecs []timing.Comparison `json:"codecs"`

	Recommended string `json:"recommended,omitempty"` // the name of a codec
	Why         string `json:"reason,omitempty"`
}

// By how much codecs may be larger than the smallest, in per cent, that are better otherwise: they are exact, many
// times as fast, or twice as fast.
const (
	exactMay = 10
	fastMay  = 12
	twiceMay = 3
)

// recommend recommends a codec by the sizes that were measured, which are always the same, as speeds are not.
func (c *codecsOfTimes) recommend() {
	var smallest, exact, fast, twice *timing.Comparison
	for i := range c.Codecs {
		r := &c.Codecs[i]
		codec := cli.CodecOf(r.Codec)
		if r.Errors == nil || codec == nil {
			continue
		}
		if smallest == nil || r.Bytes < smallest.Bytes {
			smallest = r
		}
		if codec.Exact && (exact == nil || r.Bytes < exact.Bytes) {
			exact = r
		}
		switch r.Codec {
		case "exponential":
			fast = r
		case "entropy-fast":
			twice = r
		}
	}
	if smallest == nil {
		return
	}
	better := func(r *timing.Comparison, may int, what string) bool {
		if r == nil || r == smallest || 100*r.Bytes > (100+may)*smallest.Bytes {
			return false
		}
		c.Recommended = r.Codec
		c.Why = fmt.Sprintf("%s, and %s larger than %s, the smallest", what,
			text.Percent(r.Bytes-smallest.Bytes, smallest.Bytes), smallest.Codec)
		return true
	}
	switch {
	case smallest == exact:
		c.Recommended, c.Why = smallest.Codec, "the smallest, and exact"
	case better(exact, exactMay, "exact"), better(fast, fastMay, "many times as fast"),
		better(twice, twiceMay, "twice as fast"):
	default:
		c.Recommended, c.Why = smallest.Codec, "the smallest"
	}
}

// codecsRounds is how often speed is measured.
const codecsRounds = 5

func compareCodecs(cmd *cobra.Command, paths []string, o *codecsOptions) error {
	cli.Impatient.Store(true)
	var codecs []timing.Codec
	for _, c := range timing.Codecs() {
		codec, err := c.New(o.epsilon)
		if err != nil {
			return err
		}
		codecs = append(codecs, codec)
	}
	if err := o.unused(cmd, paths); err != nil {
		return err
	}
	t := CodecsTable{Schema: cli.Schema, Error: o.epsilon}
	for _, path := range paths {
		columns, err := readColumns(cmd, path, o)
		if err != nil {
			return err
		}
		for _, c := range columns {
			options := timing.CompareOptions{Codecs: codecs, Rounds: codecsRounds}
			all, err := timing.Compare(c.parts, options)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			for i := range all {
				all[i].Codec = layout.CodecWord(all[i].Codec)
			}
			all = append(all, timing.Summarize(c.parts, options)...)
			of := codecsOfTimes{Name: c.name, Values: all[0].Values, Codecs: all}
			of.recommend()
			t.Columns = append(t.Columns, of)
		}
	}
	if o.json {
		return cli.PrintJSON(cmd.OutOrStdout(), t)
	}
	out := text.NewFolder(cmd.OutOrStdout())
	return cmp.Or(t.print(out), out.Close())
}

func (t *CodecsTable) print(w io.Writer) error {
	for i, c := range t.Columns {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %s, %s as they are; codecs with an error: %s\n", text.Printable(c.Name),
			text.Plural(c.Values, "value"),
			text.Bytes(8*int64(c.Values)), text.Error(timing.Guarantee(t.Error)))
		table := text.NewTable(w, text.All, "bytes", "bits", "max error", "mean error", "encode ns",
			"decode ns", "<  codec")
		for _, r := range c.Codecs {
			perValue := func(total float64) string { return fmt.Sprintf("%.3g", total/float64(max(r.Values, 1))) }
			worst, mean, decode := "–", "–", "–"
			if e := r.Errors; e != nil {
				worst, mean = "exact", "exact"
				if c := cli.CodecOf(r.Codec); c != nil && !c.Exact { // these values may come back, but others need not
					worst, mean = fmt.Sprintf("%.3g %%", 100*e.Max), fmt.Sprintf("%.3g %%", 100*e.Mean)
				}
				decode = perValue(float64(r.Decode))
			}
			table.Row(r.Bytes, perValue(8*float64(r.Bytes)), worst, mean, perValue(float64(r.Encode)), decode,
				"  "+r.Codec)
		}
		if err := table.Close(); err != nil {
			return err
		}
		if c.Recommended != "" {
			fmt.Fprintf(w, "recommended: %s: %s\n", c.Recommended, c.Why)
		}
	}
	return nil
}

// unused returns the error of an option that goes with none of the files.
func (o *codecsOptions) unused(cmd *cobra.Command, paths []string) error {
	traces := 0
	for _, path := range paths {
		if cli.IsTrace(path) {
			traces++
		}
	}
	for _, name := range []string{"column", "unit"} {
		if traces == len(paths) && cmd.Flags().Changed(name) {
			return cli.BadUsage(fmt.Errorf("--%s does not go with a trace", name))
		}
	}
	if traces == 0 && cmd.Flags().Changed("ranks") {
		return cli.BadUsage(errors.New("--ranks goes with a trace"))
	}
	return nil
}

// readColumns reads the columns of a file.
func readColumns(cmd *cobra.Command, path string, o *codecsOptions) ([]userColumn, error) {
	in := io.Reader(cmd.InOrStdin())
	room := &valueRoom{most: max(LeastRoom, cli.MemoryOf(cmd.Context()))}
	if path != "-" {
		if cli.IsTrace(path) {
			return readTraceColumns(cmd, path, o)
		}
		f, err := openTimes(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		defer f.Close()
		in = f
		if info, err := f.Stat(); err == nil && cli.MemoryOf(cmd.Context()) == 0 {
			room.most = max(room.most, roomPerByte*info.Size())
		}
	}
	column := userColumn{name: path}
	var (
		values []int64
		err    error
	)
	if o.column == "" {
		values, err = readText(in, o.unit, room)
	} else {
		column.name += ", column " + o.column
		values, err = readCSV(in, o, room)
	}
	if err == nil && len(values) == 0 {
		err = errors.New("no times in it")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	column.parts = []timing.Column[int64]{{Values: values}}
	return []userColumn{column}, nil
}

// A valueRoom is how many times there may be of a file.
type valueRoom struct{ most int64 } // bytes that they take

const (
	ValueMemory = 128       // bytes that a time takes, with what is made of it
	LeastRoom   = 512 << 20 // as a trace has
	roomPerByte = 512
	maxRecord   = 4 << 20 // bytes of a line of CSV, which may have several in quotes
)

// add adds a time.
func (r *valueRoom) add(values []int64, v int64) ([]int64, error) {
	if n := int64(len(values)); n >= r.most/ValueMemory {
		return nil, &format.MemoryError{What: "times so far", N: uint64(n), Need: uint64(n) * ValueMemory,
			Most: uint64(r.most), Grows: true}
	}
	return append(values, v), nil
}

// A limited is a reader of so many bytes, until there may be more.
type limited struct {
	r    io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("a line has more than %s", text.Bytes(int64(maxRecord)))
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// openTimes opens a file that is no trace.
func openTimes(path string) (*os.File, error) {
	f, err := os.Open(path)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return nil, path.Err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, errors.New(
			"this is a directory; codecs reads traces, text with a time on each line, and CSV with --column")
	}
	return f, err
}

// readTraceColumns returns the durations and the gaps of a trace.
func readTraceColumns(cmd *cobra.Command, path string, o *codecsOptions) ([]userColumn, error) {
	tr, err := cli.OpenReadable(cmd, path)
	if err != nil {
		return nil, err
	}
	defer tr.Close()
	if err := cli.DamageOf(path, tr); err != nil {
		return nil, err // what is left is another column
	}
	ranks, chosen := tr.RankSet(), (*rankenc.Set)(nil)
	if chosen, err = cli.ChosenRanks(cmd, o.ranks, tr, path); err != nil {
		return nil, err
	}
	if chosen != nil {
		ranks = *chosen
	}
	durations, gaps := userColumn{name: path + ", durations"}, userColumn{name: path + ", gaps"}
	calls := uint64(0)
	for _, number := range ranks.All() {
		rank, err := tr.Rank(number)
		if err != nil {
			return nil, err
		}
		if s := rank.Series(); s == nil && rank.Len() > 0 || s != nil && s.Guarantee() != timing.Exact {
			return nil, fmt.Errorf("%s: rank %d has no exact times: record --times exact keeps them", path, number)
		}
		var d, g timing.Column[int64]
		var last timing.Time // of the call before
		if calls = wire.AddSat(calls, rank.Len()); calls > 0 {
			if err := memory.Check(tr, "calls with times", calls, ValueMemory); err != nil {
				return nil, err
			}
		}
		walk := rank.Walk(0)
		run := walk.Next()
		for at, err := range rank.Times(0) {
			if err != nil {
				return nil, err
			}
			if run.Count == 0 {
				run = walk.Next()
			}
			run.Count--
			d.Values, d.Terminals = append(d.Values, at.Duration), append(d.Terminals, run.Symbol)
			if len(d.Values) > 1 { // there is no gap before the first call
				g.Values, g.Terminals = append(g.Values,
					wire.SubTimes(wire.SubTimes(at.Start, last.Start), last.Duration)), append(g.Terminals, run.Symbol)
			}
			last = at
		}
		durations.parts, gaps.parts = append(durations.parts, d), append(gaps.parts, g)
	}
	return []userColumn{durations, gaps}, nil
}

// readText reads a time from each line that has one.
func readText(r io.Reader, unit string, room *valueRoom) ([]int64, error) {
	var values []int64
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		v, err := parseNanoseconds(line, unit)
		if err != nil {
			if strings.ContainsAny(line, ",;\t") {
				return nil, fmt.Errorf("line %d has several fields: --column chooses one", n)
			}
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if values, err = room.add(values, v); err != nil {
			return nil, err
		}
	}
	return values, lines.Err()
}

// readCSV reads a column of times. The first line has names if none of its fields is a time.
func readCSV(in io.Reader, o *codecsOptions, room *valueRoom) ([]int64, error) {
	record := &limited{in, maxRecord}
	r := bufio.NewReader(record)
	begin, _ := r.Peek(r.Size())
	head, _, _ := strings.Cut(string(begin), "\n")
	c := csv.NewReader(r)
	c.ReuseRecord, c.FieldsPerRecord = true, -1
	for _, separator := range ";\t" {
		if strings.ContainsRune(head, separator) && !strings.Contains(head, ",") {
			c.Comma = separator
		}
	}
	var values []int64
	for column := -1; ; {
		record.left = maxRecord
		fields, err := c.Read()
		if err == io.EOF {
			return values, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := c.FieldPos(0)
		if column < 0 {
			named := !slices.ContainsFunc(fields, func(field string) bool {
				_, err := parseNanoseconds(field, o.unit)
				return err == nil
			})
			if column, err = o.columnOf(fields, named); err != nil {
				return nil, err
			}
			if named {
				continue
			}
		}
		if column >= len(fields) {
			return nil, fmt.Errorf("line %d has no column %q", line, o.column)
		}
		v, err := parseNanoseconds(fields[column], o.unit)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		if values, err = room.add(values, v); err != nil {
			return nil, err
		}
	}
}

// columnOf returns the index of the chosen column, of which the first line has the names or
// not.
func (o *codecsOptions) columnOf(first []string, named bool) (int, error) {
	if named && slices.Contains(first, o.column) {
		return slices.Index(first, o.column), nil
	}
	number, _ := strconv.Atoi(o.column)
	switch {
	case 1 <= number && number <= len(first):
		return number - 1, nil
	case named:
		return 0, fmt.Errorf("no column %q: there are %s", o.column, strings.Join(first, ", "))
	}
	return 0, fmt.Errorf("no column %q: there are 1 to %d, and the first line has no names", o.column, len(first))
}

// parseNanoseconds returns a time that has a unit, or is in a unit.
func parseNanoseconds(text, unit string) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, errors.New("an empty field is not a time")
	}
	if last := text[len(text)-1]; last != '.' && (last < '0' || last > '9') {
		if d, err := time.ParseDuration(text); err == nil {
			return int64(d), nil
		}
		return 0, fmt.Errorf("%q is not a time, such as 1500 or 1.5us", text)
	}
	if d, err := time.ParseDuration(text + unit); err == nil {
		return int64(d), nil
	}
	one, _ := time.ParseDuration("1" + unit)
	v, err := strconv.ParseFloat(text, 64) // as 1e-05
	if v = math.Round(v * float64(one)); err != nil || !(math.Abs(v) < math.MaxInt64) {
		return 0, fmt.Errorf("%q is not a time, such as 1500 or 1.5us", text)
	}
	return int64(v), nil
}
