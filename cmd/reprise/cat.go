package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/ti"
)

func newCat() *cobra.Command {
	o := catOptions{rank: -1}
	cmd := &cobra.Command{
		Use:   "cat TRACE.rpz",
		Short: "Write the calls of a trace",
		Long: `Write the calls of a trace, of all ranks in the order in which they were read, or
of one rank. A trace that was made from a SimGrid trace comes back byte for byte.

Formats: ti, SimGrid's lines; text, a line for people, with rank and position;
json, an object a line. The default is ti if the trace was made from it.`,
		Args: exactArgs(1, "one trace"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.rankSet = cmd.Flags().Changed("rank")
			if o.rankSet && o.split != "" {
				return usageError{errors.New("--split writes all ranks: it does not go with --rank")}
			}
			return cat(cmd, args[0], o)
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.rank, "rank", -1, "write the calls of this rank only")
	f.Uint64Var(&o.from, "from", 0, "begin at this call, counted from 0")
	f.Uint64Var(&o.count, "count", math.MaxUint64, "write at most so many calls")
	f.StringVar(&o.format, "format", "", "ti, text or json")
	f.BoolVar(&o.json, "json", false, "the same as --format json")
	f.StringVar(&o.split, "split", "", "write one file a rank and their list into this `directory`")
	f.Lookup("count").DefValue = "all"
	f.Lookup("rank").DefValue = "all"
	return cmd
}

type catOptions struct {
	rank        int
	rankSet     bool
	from, count uint64
	format      string
	json        bool
	split       string
}

func cat(cmd *cobra.Command, path string, o catOptions) error {
	if o.json {
		o.format = "json"
	}
	trace, err := reprise.Open(path)
	if err != nil {
		return err
	}
	defer trace.Close()
	if o.format == "" {
		o.format = "text"
		if trace.Run().Source == sourceTI {
			o.format = "ti"
		}
	}
	if o.split != "" {
		return split(cmd, trace, path, o)
	}
	write, flush, err := newLineWriter(o.format, trace, cmd.OutOrStdout())
	if err != nil {
		return err
	}
	if err := copyCalls(cmd, trace, o, write); err != nil {
		flush()
		return fmt.Errorf("%s: %w", path, err)
	}
	return flush()
}

// copyCalls gives the calls that o selects to write, with their positions in
// the rank or in all.
func copyCalls(cmd *cobra.Command, trace *reprise.Trace, o catOptions, write func(position uint64, c reprise.Call) error) error {
	p := newProgress(cmd.Context(), io.Discard, "", -1) // the output itself shows progress
	left := o.count
	if o.rankSet {
		if o.rank < 0 || o.rank >= trace.Ranks() {
			return noRank(o.rank, trace)
		}
		rank, err := trace.Rank(o.rank)
		if err != nil {
			return err
		}
		for position, c := range rank.CallsFrom(o.from) {
			if left == 0 {
				break
			}
			left--
			if err := errors.Join(write(position, c), p.step(0)); err != nil {
				return err
			}
		}
		return nil
	}
	calls := trace.Calls(o.from)
	for position := o.from; left > 0; position++ {
		left--
		c, err := calls.Read()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = errors.Join(write(position, c), p.step(0))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func noRank(rank int, trace *reprise.Trace) error {
	return fmt.Errorf("there is no rank %d: the trace has ranks 0 to %d", rank, trace.Ranks()-1)
}

// newLineWriter returns a function that writes a call as a line of a format, and
// one to call at the end.
func newLineWriter(format string, trace *reprise.Trace, w io.Writer) (write func(uint64, reprise.Call) error, flush func() error, err error) {
	out := bufio.NewWriterSize(w, 1<<16)
	switch format {
	case "ti":
		toTI, err := newConverter(trace)
		if err != nil {
			return nil, nil, err
		}
		w := ti.NewWriter(w)
		return func(_ uint64, c reprise.Call) error { return w.Write(toTI(c)) }, w.Flush, nil
	case "text":
		var line []byte
		write := func(position uint64, c reprise.Call) error {
			line = fmt.Appendf(line[:0], "%d\t%d\t", c.Rank, position)
			line = append(cst.AppendCall(line, *c.Function, c.Args), '\n')
			_, err := out.Write(line)
			return err
		}
		return write, out.Flush, nil
	case "json":
		enc := json.NewEncoder(out)
		return func(position uint64, c reprise.Call) error { return enc.Encode(callJSON(position, c)) }, out.Flush, nil
	}
	return nil, nil, usageError{fmt.Errorf("there is no format %q: ti, text or json", format)}
}

// newConverter returns a function that turns calls of a trace into those of
// package ti, or an error if the trace has functions that SimGrid's traces have
// not.
func newConverter(trace *reprise.Trace) (func(reprise.Call) ti.Call, error) {
	index := make(map[*cst.Function]int)
	functions := trace.Functions()
	for i := range functions {
		k, ok := ti.Lookup(functions[i])
		if !ok {
			return nil, fmt.Errorf("a SimGrid trace cannot hold the function %s: write --format text", functions[i].Name)
		}
		index[&functions[i]] = k
	}
	return func(c reprise.Call) ti.Call {
		return ti.Call{Rank: c.Rank, Function: index[c.Function], Args: c.Args}
	}, nil
}

// split writes one file a rank, and their list.
func split(cmd *cobra.Command, trace *reprise.Trace, path string, o catOptions) error {
	if o.format != "ti" {
		return usageError{errors.New("--split writes SimGrid's files: the only format is ti")}
	}
	toTI, err := newConverter(trace)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".rpz")
	w, err := ti.CreateRanks(o.split, name, trace.Ranks())
	if err != nil {
		return err
	}
	defer w.Abort()
	err = copyCalls(cmd, trace, o, func(_ uint64, c reprise.Call) error { return w.Write(toTI(c)) })
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return w.Close()
}

// A jsonCall is a call as --json writes it. Numbers beyond 2⁵³ are written in
// full.
type jsonCall struct {
	Rank     int       `json:"rank"`
	Position uint64    `json:"position"`
	Function string    `json:"function"`
	Args     []jsonArg `json:"args"`
}

type jsonArg struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

func callJSON(position uint64, c reprise.Call) jsonCall {
	j := jsonCall{Rank: c.Rank, Position: position, Function: c.Function.Name, Args: []jsonArg{}}
	for i, v := range c.Args {
		j.Args = append(j.Args, jsonArg{c.Function.Params[i].Name, jsonValue(v)})
	}
	return j
}

// jsonValue returns what encodes v in JSON. Arrays nest no deeper than
// cst.MaxDepth.
func jsonValue(v cst.Value) any {
	switch v.Kind() {
	case cst.KindInt, cst.KindRank, cst.KindTag, cst.KindHandle:
		return v.Int()
	case cst.KindFloat:
		if f := v.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
		return v.String()
	case cst.KindString:
		return v.Text()
	case cst.KindBytes:
		return []byte(v.Text())
	case cst.KindPointer:
		p := v.Pointer()
		return map[string]int64{"segment": p.Segment, "displacement": p.Displacement, "device": p.Device}
	case cst.KindStatus:
		s := v.Status()
		return map[string]int64{"source": s.Source, "tag": s.Tag, "error": s.Error}
	}
	list := make([]any, v.Len())
	for i := range list {
		list[i] = jsonValue(v.Index(i))
	}
	return list
}
