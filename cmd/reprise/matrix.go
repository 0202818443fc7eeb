package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
)

// A picture has this number of rows at most, if nobody asks for more.
const (
	fewBins = 512
	maxBins = 2048
)

func newMatrix() *cobra.Command {
	var o matrixOptions
	cmd := &cobra.Command{
		Use:   "matrix TRACE.rpz -o FILE",
		Short: "Draw which rank sends how much to which",
		Long: `Draw the communication matrix of a trace: how many bytes, or messages, go from
each rank to each other. What is counted is what the command messages counts.

The format follows from the name of the output, or --format says it:
  svg, png  a picture: the rows are the ranks that send, from the top down, and
            the columns those that receive; the scale is logarithmic, and white
            is nothing
  csv       a line for each pair of ranks between which there is something, with
            the columns from, to, messages, bytes, and messages_of_unknown_size,
            which are not among the bytes; 18446744073709551615 is that or more

A picture of more ranks than --bins has as many rows and columns as that, and a
point of it is what goes from some neighbouring ranks to others.

Ranks that cannot be read, of a damaged or repaired trace, are named and left
out; the exit status is then 1.`,
		Example: `  reprise matrix run.rpz -o run.png
  reprise matrix run.rpz -o run.svg --of messages --scale linear
  reprise matrix run.rpz -o - --format csv | sort -t, -k4 -n | tail`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return usageError{err}
			}
			return oneTrace(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return matrix(cmd, args[0], o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "`file` to write, or - for standard output")
	f.StringVar(&o.format, "format", "", "svg, png or csv")
	f.StringVar(&o.of, "of", "bytes", "bytes or messages")
	f.StringVar(&o.scale, "scale", "log", "log or linear")
	f.IntVar(&o.bins, "bins", fewBins, "most rows and columns of a picture")
	f.Lookup("format").DefValue = "that of the name"
	addRanks(cmd, &o.ranks)
	return cmd
}

type matrixOptions struct {
	output, format, of, scale string
	ranks                     string
	bins                      int
}

// check returns what is wrong with the options, and fills in the format.
func (o *matrixOptions) check() error {
	if o.output == "" {
		return errors.New("-o is missing: the file to write")
	}
	formats := []string{"svg", "png", "csv"}
	if o.format == "" {
		o.format = strings.ToLower(strings.TrimPrefix(filepath.Ext(o.output), "."))
		if !slices.Contains(formats, o.format) {
			return fmt.Errorf("%s is not named .svg, .png or .csv: --format says what it shall be", o.output)
		}
	}
	switch {
	case !slices.Contains(formats, o.format):
		return fmt.Errorf("--format is svg, png or csv, not %q", o.format)
	case o.of != "bytes" && o.of != "messages":
		return fmt.Errorf("--of is bytes or messages, not %q", o.of)
	case o.scale != "log" && o.scale != "linear":
		return fmt.Errorf("--scale is log or linear, not %q", o.scale)
	case o.bins < 1 || o.bins > maxBins:
		return fmt.Errorf("--bins is from 1 to %d, not %d", maxBins, o.bins)
	}
	return nil
}

func matrix(cmd *cobra.Command, path string, o matrixOptions) error {
	trace, err := openTrace(path)
	if err != nil {
		return err
	}
	defer trace.Close()
	var write func(io.Writer) error
	lost, err := ask(cmd, trace, path, o.ranks, "matrix", func(q query.Options) error {
		model, err := openModel(cmd, trace, path)
		switch {
		case err != nil:
			return err
		case o.format == "csv":
			t, err := query.OpenTraffic(cmd.Context(), model, q)
			write = func(w io.Writer) error { return writePairs(w, t) }
			return fileError(path, err)
		}
		m, err := query.OpenMatrix(cmd.Context(), model, o.bins, q)
		if err != nil {
			return fileError(path, err)
		}
		h, err := newHeatMap(path, m, o)
		write = func(w io.Writer) error { return h.write(w, o.format) }
		return err
	})
	if err == nil {
		err = writeOutput(cmd, o.output, []string{path}, write)
	}
	if err != nil {
		return err
	}
	return warnLost(cmd.ErrOrStderr(), lost.err())
}

// writePairs writes a line for each pair of ranks.
func writePairs(w io.Writer, t *query.Traffic) error {
	out := csv.NewWriter(w)
	out.Write([]string{"from", "to", "messages", "bytes", "messages_of_unknown_size"})
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	for _, p := range t.Pairs {
		out.Write([]string{strconv.Itoa(p.Source), strconv.Itoa(p.Destination), number(p.Messages), number(p.Bytes), number(p.Unknown)})
	}
	out.Flush()
	return out.Error()
}

// newHeatMap returns the picture of a matrix.
func newHeatMap(path string, m *query.Matrix, o matrixOptions) (*heatMap, error) {
	all := newFlowInfo(m.Flow)
	if m.Messages == 0 {
		return nil, fmt.Errorf("%s: no rank sends a message: there is nothing to draw", path)
	}
	h := &heatMap{ranks: m.Ranks, bins: m.Bins, linear: o.scale == "linear", scale: o.of + " from one rank to another"}
	h.title = fmt.Sprintf("%s: %s, %s", filepath.Base(path), text.Plural(all.Messages, "message"), all.bytes())
	if m.Bins < m.Ranks {
		h.scale = fmt.Sprintf("%s from %s to as many others", o.of, ranksOfBin(m))
	}
	switch {
	case o.of == "messages":
		h.value, h.text = func(from, to int) uint64 { return m.At(from, to).Messages }, text.Count[uint64]
	case m.Bytes == 0:
		return nil, fmt.Errorf("%s: the messages have no bytes, or it is not known how many: --of messages draws their number", path)
	default:
		h.value, h.text = func(from, to int) uint64 { return m.At(from, to).Bytes }, text.Bytes[uint64]
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
