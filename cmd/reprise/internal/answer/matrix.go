package answer

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
)

// A picture has this number of rows at most, if nobody asks for more.
const (
	fewBins = 512
	maxBins = 2048
)

type matrixOptions struct {
	output          string
	format          *cli.Choice
	kind, of, scale *cli.Choice
	bins            int
	force           bool // to write any number of lines
}

// MostLines is how many lines of CSV are written unless they are forced to be.
const MostLines = 10_000_000

// Kinds of communication.
const (
	KindBoth       = "both"
	KindP2P        = "p2p"
	KindCollective = "collective"
)

func NewMatrix() *cobra.Command {
	o := matrixOptions{
		format: cli.NewChoice("", "svg", "png", "csv"), kind: cli.NewChoice(KindBoth, KindP2P, KindCollective),
		of: cli.NewChoice("bytes", "messages"), scale: cli.NewChoice("log", "linear"),
	}
	var q *cli.Question
	q = cli.NewQuestion("matrix", func() error { return o.check(q) }, func(q *cli.Question) error {
		return matrix(q, o)
	}, cli.OptRanks, cli.OptRegion)
	f := q.Flags()
	f.StringVarP(&o.output, "output", "o", "", "the `file` to write, or - for standard output")
	cli.AddChoice(q.Command, o.format, "format", "format of the output")
	f.Lookup("format").DefValue = "by the name of the file"
	cli.AddChoice(q.Command, o.kind, "kind", "kind of communication")
	cli.AddChoice(q.Command, o.of, "of", "quantity to draw")
	cli.AddChoice(q.Command, o.scale, "scale", "scale of the colours")
	f.IntVar(&o.bins, "bins", fewBins, "max `number` of rows and columns of a picture")
	f.BoolVar(&o.force, "force", false, fmt.Sprintf("with --format csv, write more than %s lines",
		text.Count(MostLines)))
	return q.Command
}

// check returns what is wrong with the options, and fills in the format.
func (o *matrixOptions) check(q *cli.Question) error {
	switch {
	case o.output == "":
		return errors.New("matrix needs -o FILE")
	case o.bins < 1 || o.bins > maxBins:
		return fmt.Errorf("--bins is from 1 to %d, not %d", maxBins, o.bins)
	}
	if o.format.Value == "" {
		if err := o.format.Set(
			strings.ToLower(strings.TrimPrefix(filepath.Ext(o.output), "."))); err != nil || o.format.Value == "" {
			return fmt.Errorf("%s is not named .svg, .png or .csv: choose one with --format", o.output)
		}
	}
	if o.format.Value != "csv" && o.force {
		return errors.New("--force goes with --format csv")
	}
	for _, name := range []string{"of", "scale", "bins"} {
		if o.format.Value == "csv" && q.Flags().Changed(name) {
			return fmt.Errorf("--%s does not go with --format csv, which is not a picture", name)
		}
	}
	return nil
}

// kindName returns what the matrix is of, as people say it.
func (o *matrixOptions) kindName() string {
	switch o.kind.Value {
	case KindP2P:
		return "point-to-point"
	case KindCollective:
		return "collective"
	}
	return "point-to-point and collective"
}

func matrix(q *cli.Question, o matrixOptions) error {
	var write func(io.Writer) error
	err := q.Query("matrix", func(options query.Options) error {
		model, err := q.Model()
		if err != nil {
			return err
		}
		bins := o.bins
		if o.format.Value == "csv" {
			bins = 0
		}
		m, err := query.OpenMessages(q.Context(), model, bins, options)
		if err != nil {
			return tooManyPairs(err)
		}
		if m.Traffic != nil {
			if o.kind.Value == KindP2P {
				m.Traffic.Uniform = nil
			}
			if n := m.Traffic.Most(); n > MostLines && !o.force {
				return cli.BadUsage(
					fmt.Errorf("there would be up to %s lines, one for each pair of ranks; --force writes them, a picture has --bins", text.Count(n)))
			}
			write = func(w io.Writer) error { return writePairs(q.Context(), w, m.Traffic, o.kind.Value) }
			return nil
		}
		h, err := newHeatMap(q.Path, m.Matrix, o)
		write = func(w io.Writer) error { return h.write(w, o.format.Value) }
		return err
	})
	if err != nil {
		return err
	}
	what := fmt.Sprintf("matrix of %s, %s", text.Plural(q.Trace.Ranks(), "rank"), o.kindName())
	return cli.TellWritten(q.Command, o.format.Value, o.output, what,
		cli.Named(cli.WriteOutput(q.Command, o.output, []string{q.Path}, write)))
}

// writePairs writes a line for each pair of ranks with communication of a kind.
func writePairs(ctx context.Context, w io.Writer, t *query.Traffic, kind string) error {
	out := csv.NewWriter(w)
	line := []string{"from", "to"}
	if kind != KindCollective {
		line = append(line, "messages", "bytes", "messages_of_unknown_size")
	}
	if kind != KindP2P {
		line = append(line, "blocks", "exchanged_bytes", "blocks_of_unknown_size")
	}
	out.Write(line)
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	const linesPerLook = 4096
	lines := 0
	for p := range t.All() {
		if lines++; lines%linesPerLook == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if v := volumeOf(p.Volume, kind); v.Messages == 0 && v.Exchanged.Blocks == 0 {
			continue
		}
		line = append(line[:0], strconv.Itoa(p.Source), strconv.Itoa(p.Destination))
		if kind != KindCollective {
			line = append(line, number(p.Messages), number(p.Bytes), number(p.Unknown))
		}
		if b := p.Exchanged; kind != KindP2P {
			line = append(line, number(b.Blocks), number(b.Bytes), number(b.Unknown))
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// volumeOf returns what is of a kind.
func volumeOf(v query.Volume, kind string) query.Volume {
	switch kind {
	case KindP2P:
		v.Exchanged = query.Blocks{}
	case KindCollective:
		v.Flow = query.Flow{}
	}
	return v
}

// newHeatMap returns the picture of a matrix.
func newHeatMap(path string, m *query.Matrix, o matrixOptions) (*heatMap, error) {
	of, kind := o.of.Value, o.kind.Value
	all := volumeOf(m.Volume, kind)
	bytes := func(v query.Volume) uint64 { return wire.AddSat(v.Bytes, v.Exchanged.Bytes) }
	value := bytes
	h := &heatMap{ranks: m.Ranks, bins: m.Bins, linear: o.scale.Value == "linear"}
	var parts []string
	if kind != KindCollective {
		parts = append(parts, fmt.Sprintf("%s, %s", text.Plural(m.Messages, "message"), flowBytes(m.Flow)))
	}
	if kind == KindCollective || kind == KindBoth && m.Exchanged.Blocks > 0 {
		parts = append(parts, fmt.Sprintf("collective %s, %s", text.Plural(m.Exchanged.Blocks, "block"),
			blockBytes(m.Exchanged)))
	}
	h.title = filepath.Base(path) + ": " + strings.Join(parts, "; ")
	counted := map[string]string{KindBoth: "messages and blocks", KindP2P: "messages", KindCollective: "blocks"}[kind]
	if kind == KindBoth && m.Exchanged.Blocks == 0 {
		counted = "messages"
	}
	switch {
	case all.Messages == 0 && all.Exchanged.Blocks == 0:
		return nil, fmt.Errorf("%s: there is nothing to draw", map[string]string{
			KindBoth: "no rank sends anything to another", KindP2P: "no rank sends a message",
			KindCollective: "collective operations exchange no data",
		}[kind])
	case of == "messages":
		h.scale, h.text = counted, text.Count[uint64]
		value = func(v query.Volume) uint64 { return wire.AddSat(v.Messages, v.Exchanged.Blocks) }
	case bytes(all) == 0:
		return nil, fmt.Errorf(
			"the %s have no bytes, or their sizes are unknown: --of messages draws their number", counted)
	default:
		h.scale, h.text = "bytes", text.Bytes[uint64]
	}
	values := make([]uint64, m.Bins*m.Bins)
	for from := range m.Bins {
		for to := range m.Bins {
			values[from*m.Bins+to] = value(volumeOf(m.At(from, to), kind))
		}
	}
	h.value = func(from, to int) uint64 { return values[from*h.bins+to] }
	if m.Bins < m.Ranks {
		h.scale += fmt.Sprintf(" from %s to as many others", ranksOfBin(m))
	} else {
		h.scale += " from one rank to another"
	}
	h.markSaturated()
	return h, nil
}

// markSaturated says what the darkest colour means if it stands for all that is more.
func (h *heatMap) markSaturated() {
	for from := range h.bins {
		for to := range h.bins {
			if text.Saturated(h.value(from, to)) {
				h.scale += ", the darkest: " + h.text(math.MaxUint64)
				return
			}
		}
	}
}

// ranksOfBin returns how many ranks are in a bin of a matrix.
func ranksOfBin(m *query.Matrix) string {
	least := m.Ranks / m.Bins
	if m.Ranks%m.Bins > 0 {
		return fmt.Sprintf("%s or %s ranks", text.Count(least), text.Count(least+1))
	}
	return text.Plural(least, "rank")
}
