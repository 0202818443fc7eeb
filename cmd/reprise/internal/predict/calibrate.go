package predict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/interpose"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

func NewCalibrate() *cobra.Command {
	var output, mpicc string
	q := &cli.Question{Command: cli.NewCommand("calibrate")}
	q.AddOptions([]cli.Option{cli.OptJSON})
	f := q.Flags()
	f.StringVarP(&output, "output", "o", "", "write the parameters to a `file`, for reprise predict --machine")
	f.StringVar(&mpicc, "mpicc", "", "the compiler `command` of the MPI")
	f.SetInterspersed(false) // what follows the launcher is its own
	q.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cli.BadUsage(
				errors.New("calibrate takes the MPI launcher after --, such as: reprise calibrate -- mpirun -n 2"))
		}
		if output == "-" && q.JSON {
			return cli.BadUsage(errors.New("standard output has the JSON: -o takes a file"))
		}
		return nil
	}
	q.RunE = func(_ *cobra.Command, args []string) error {
		a := &Calibrated{Schema: cli.Schema, Output: output}
		run := func() error {
			measured, err := a.measure(q.Command, mpicc, args)
			if err != nil {
				return err
			}
			if err := a.Fit(q.Context(), measured); err != nil {
				return err
			}
			for _, doubt := range a.Doubts {
				cli.Warn(q.ErrOrStderr(), "%s", doubt)
			}
			return nil
		}
		if output == "" {
			if err := run(); err != nil {
				return err
			}
			return q.Answer(a, func() { a.print(q) })
		}
		// which it can, before anything is measured
		err := cli.WriteOutput(q.Command, output, nil, func(w io.Writer) error {
			if err := run(); err != nil {
				return err
			}
			_, err := io.WriteString(w, a.MachineFile())
			return err
		})
		if err != nil {
			return err
		}
		if output == "-" {
			return nil
		}
		return q.Answer(a, func() { a.print(q) })
	}
	return q.Command
}

// A Calibrated is what an MPI and a machine take for messages.
type Calibrated struct {
	Schema      int                    `json:"schema"`
	Output      string                 `json:"output,omitempty"`
	Command     string                 `json:"command"`
	MPI         string                 `json:"mpi"`
	Ranks       int                    `json:"ranks"`
	Nodes       int                    `json:"nodes"`
	PerNode     int                    `json:"ranks_per_node"`
	Cyclic      bool                   `json:"cyclic"`
	Doubts      []string               `json:"doubts"` // why what was measured may be of other things that run
	Links       []CalibratedLink       `json:"links"`
	Besides     []BesidesMessages      `json:"besides"`
	Collectives []CalibratedCollective `json:"collective_times"`

	Parameters loggps.Parameters `json:"-"`
}

// A CalibratedLink is the parameters of messages within a node, or between two.
type CalibratedLink struct {
	Name       string            `json:"link"`
	Latency    query.Nanoseconds `json:"latency_ns"`
	Overhead   query.Nanoseconds `json:"overhead_ns"`
	Gap        query.Nanoseconds `json:"gap_ns"`
	Bandwidth  *int64            `json:"bandwidth"`   // null if it is unlimited
	EagerLimit *int64            `json:"eager_limit"` // null if there is none
	Larger     []LargerMessages  `json:"larger"`
	Copied     bool              `json:"copied"`
	Messages   []MessageFit      `json:"message_times"`
	Error      float64           `json:"error"` // the largest, of messages that are not fitted

	link *loggps.Link
}

type LargerMessages struct {
	Than      int64             `json:"than"`
	Latency   query.Nanoseconds `json:"latency_ns"`
	Bandwidth *int64            `json:"bandwidth"`
}

// BesidesMessages is what an operation of a size takes besides its messages.
type BesidesMessages struct {
	Operation string            `json:"operation"`
	Bytes     int64             `json:"bytes"`
	Time      query.Nanoseconds `json:"besides_ns"`
}

// A MessageFit is how long messages of a size take, and how long by the parameters.
type MessageFit struct {
	Bytes     int64             `json:"bytes"`
	Measured  query.Nanoseconds `json:"measured_ns"`
	Lower     query.Nanoseconds `json:"lower_ns"` // quartiles
	Higher    query.Nanoseconds `json:"higher_ns"`
	Predicted query.Nanoseconds `json:"predicted_ns"`
	Fitted    bool              `json:"fitted"` // the parameters are made of it
}

// A CalibratedCollective is how long a collective operation takes, and how long by the parameters.
type CalibratedCollective struct {
	Operation string            `json:"operation"`
	Bytes     int64             `json:"bytes"`
	Measured  query.Nanoseconds `json:"measured_ns"`
	Predicted query.Nanoseconds `json:"predicted_ns"`
}

// measure runs the program that measures, behind the arguments of a launcher.
func (a *Calibrated) measure(cmd *cobra.Command, named string, args []string) (*interpose.Calibration, error) {
	ctx := cmd.Context()
	if _, err := exec.LookPath(args[0]); err != nil {
		return nil, launching.NotStarted(cmd, args[0], err)
	}
	command, err := interpose.Inspect(ctx, args)
	if err != nil {
		return nil, err
	}
	mpicc, err := launching.CompilerOf(ctx, command, named)
	if err != nil {
		return nil, err
	}
	program, err := interpose.BuildCalibrator(ctx, mpicc, launching.CacheDirectory())
	if err != nil {
		return nil, err
	}
	args = launching.WithoutProgram(args, command)
	a.Command, a.MPI = text.ShellLine(args), program.MPI
	args = append(args, program.Path)
	if _, err := interpose.Inspect(ctx, args); err != nil { // as the launcher may be of another MPI
		return nil, err
	}
	run := exec.CommandContext(ctx, args[0], args[1:]...)
	run.Stderr = cmd.ErrOrStderr()
	stdout, err := run.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := run.Start(); err != nil {
		return nil, launching.NotStarted(cmd, args[0], err)
	}
	measured, failure := interpose.ReadCalibration(stdout, cmd.ErrOrStderr())
	_, _ = io.Copy(io.Discard, stdout)
	if err := run.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf(
			"%s: %w: calibrate takes the MPI launcher with its flags, such as: reprise calibrate -- mpirun -n 2", a.Command, err)
	}
	switch {
	case failure != nil:
		return nil, fmt.Errorf(
			"%s: %s: calibrate takes the MPI launcher with its flags, such as: reprise calibrate -- mpirun -n 2", a.Command, strings.TrimPrefix(failure.Error(), "interpose: "))
	case len(measured.Nodes) < 2:
		return nil, fmt.Errorf(
			"%s started one rank: messages need two, such as: reprise calibrate -- mpirun -n 2", a.Command)
	}
	return measured, nil
}

// Fit sets the parameters.
func (a *Calibrated) Fit(ctx context.Context, m *interpose.Calibration) error {
	a.Parameters = loggps.Default()
	p := &a.Parameters
	a.Ranks = len(m.Nodes)
	perNode := make(map[int]int)
	for _, node := range m.Nodes {
		perNode[node]++
	}
	a.Nodes, p.RanksPerNode = len(perNode), perNode[0]
	switch {
	case a.Nodes == 1:
		p.RanksPerNode = max(p.RanksPerNode, m.Processors)
	case m.Nodes[1] != 0:
		p.Cyclic = true
	}
	a.doubt(m, perNode[0])
	a.PerNode, a.Cyclic, a.Links = p.RanksPerNode, p.Cyclic, []CalibratedLink{}
	if m.Within != nil {
		a.fitLink("within", &p.Within, m.Within)
	}
	if m.Between != nil {
		a.fitLink("between", &p.Between, m.Between)
	}
	messages, err := a.predictCollectives(ctx, m.Collectives)
	if err != nil {
		return err
	}
	p.Besides = besidesOf(m.Collectives, messages)
	predicted, err := a.predictCollectives(ctx, m.Collectives)
	if err != nil {
		return err
	}
	a.Collectives, a.Besides = []CalibratedCollective{}, []BesidesMessages{}
	for _, operation := range slices.Sorted(maps.Keys(p.Besides)) {
		for _, o := range p.Besides[operation] {
			a.Besides = append(a.Besides, BesidesMessages{operation, o.Bytes, Nanoseconds(o.Time)})
		}
	}
	for i, c := range m.Collectives {
		a.Collectives = append(a.Collectives, CalibratedCollective{c.Operation, c.Bytes,
			query.Nanoseconds(c.Nanoseconds), predicted[i]})
	}
	return nil
}

// maxDelayed is for which share of the time other programs may have the processors before what was measured
// is doubted.
const maxDelayed = 0.05

// doubt sets why what was measured may be of other things that run.
func (a *Calibrated) doubt(m *interpose.Calibration, onNode int) {
	a.Doubts = []string{}
	switch {
	case onNode > m.Processors:
		a.Doubts = append(a.Doubts, fmt.Sprintf("%s share %s: calibrate with at most one on each",
			text.Plural(onNode, "rank"), text.Plural(m.Processors, "processor")))
	case m.Delayed > maxDelayed:
		a.Doubts = append(a.Doubts,
			fmt.Sprintf("other programs had the processor of a rank for %s of the time: the parameters are not those of an idle machine", text.Percent(query.Nanoseconds(m.Delayed), 1)))
	}
}

// besidesOf returns what collective operations take besides their messages. The root of a broadcast does not
// wait for others: it tells nothing of them.
func besidesOf(list []interpose.CollectiveTime, messages []query.Nanoseconds) map[string]loggps.Besides {
	besides := make(map[string]loggps.Besides)
	for i, c := range list { // the smallest sizes first
		if c.Operation != "bcast" {
			more := max(picoseconds(c.Nanoseconds)-picoseconds(float64(messages[i])), 0)
			besides[c.Operation] = append(besides[c.Operation], loggps.OfSize{Bytes: c.Bytes, Time: more})
		}
	}
	if b, ok := besides["alltoall"]; ok {
		besides["alltoallv"] = b // of equal blocks, it is the same
	}
	return besides
}

// picoseconds returns a time in nanoseconds as one of a replay.
func picoseconds(ns float64) replay.Time {
	return replay.Time(math.Round(ns * float64(replay.Nanosecond)))
}

// fitLink sets the parameters of a link: of every second size of messages, and the others tell how well they
// fit.
func (a *Calibrated) fitLink(name string, link *loggps.Link, m *interpose.LinkTimes) {
	fitted := func(bytes int64) bool { return bytes&(bytes-1) == 0 || bytes == 4000 }
	measured := loggps.Measured{
		Send: picoseconds(m.Send), Receive: picoseconds(m.Receive), Gap: picoseconds(m.Gap),
		Bytes: 64 << 10, Alone: picoseconds(m.Alone), Together: picoseconds(m.Together), EagerLimit: m.EagerLimit,
	}
	switch {
	case m.Unlimited:
		measured.EagerLimit = 0
	case m.EagerLimit <= 0:
		measured.EagerLimit = -1
	}
	for _, o := range m.OneWay {
		if fitted(o.Bytes) {
			measured.OneWay = append(measured.OneWay, loggps.OneWay{Bytes: o.Bytes, Time: picoseconds(o.Nanoseconds)})
		}
	}
	*link = measured.Fit()
	l := CalibratedLink{
		Name: name, Latency: Nanoseconds(link.Latency), Overhead: Nanoseconds(link.Overhead),
		Gap: Nanoseconds(link.Gap), Bandwidth: limitOf(link.Bandwidth),
		EagerLimit: limitOf(link.EagerLimit), Larger: []LargerMessages{}, Copied: link.Copied,
		Messages: []MessageFit{}, link: link,
	}
	if link.EagerLimit < 0 {
		l.EagerLimit = new(int64)
	}
	for _, larger := range link.Larger {
		l.Larger = append(l.Larger, LargerMessages{larger.Than, Nanoseconds(larger.Latency), limitOf(larger.Bandwidth)})
	}
	for _, o := range m.OneWay {
		f := MessageFit{o.Bytes, query.Nanoseconds(o.Nanoseconds), query.Nanoseconds(o.Lower),
			query.Nanoseconds(o.Higher), Nanoseconds(link.OneWay(o.Bytes)), fitted(o.Bytes)}
		l.Messages = append(l.Messages, f)
		if !f.Fitted && f.Measured > 0 { // in no time, where clocks are coarse
			l.Error = max(l.Error, math.Abs(float64(f.Predicted/f.Measured)-1))
		}
	}
	a.Links = append(a.Links, l)
}

// limitOf returns a limit that zero stands for no limit of, as JSON has it.
func limitOf(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

// predictCollectives returns how long collective operations take by the parameters, each among a batch on
// rank 0.
func (a *Calibrated) predictCollectives(ctx context.Context,
	list []interpose.CollectiveTime) ([]query.Nanoseconds, error) {
	var times []query.Nanoseconds
	for _, c := range list {
		const double = 8
		action := "barrier"
		switch n := c.Bytes / double; c.Operation {
		case "bcast":
			action = fmt.Sprintf("bcast %d 0 0", n)
		case "allreduce":
			action = fmt.Sprintf("allreduce %d 0 0", n)
		case "alltoall":
			action = fmt.Sprintf("alltoall %d %d 0 0", n, n)
		}
		var lines strings.Builder
		for rank := range a.Ranks {
			fmt.Fprintf(&lines, "%d init\n%s%[1]d finalize\n", rank,
				strings.Repeat(fmt.Sprintf("%d %s\n", rank, action), interpose.Batch))
		}
		result, err := replayLines(ctx, lines.String(), a.Parameters)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Operation, err)
		}
		times = append(times, Nanoseconds(result.Ranks[0].End)/interpose.Batch)
	}
	return times, nil
}

// replayLines replays the lines of a trace of SimGrid.
func replayLines(ctx context.Context, lines string, p loggps.Parameters) (*replay.Result, error) {
	run, parts, err := simgrid.Record(simgrid.NewReader(strings.NewReader(lines), simgrid.Options{}), nil)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	if err := merge.Write(&file, run, parts); err != nil {
		return nil, err
	}
	tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
	if err != nil {
		return nil, err
	}
	model, err := semantics.Open(ctx, tr)
	if err != nil {
		return nil, err
	}
	machine, err := loggps.New(p, tr.Ranks(), nil)
	if err != nil {
		return nil, err
	}
	return replay.Run(ctx, model, machine)
}

func (a *Calibrated) print(q *cli.Question) {
	q.Printf("%s: %s, %s on %s\n", a.MPI, a.Command, text.Plural(a.Ranks, "rank"), text.Plural(a.Nodes, "node"))
	names := map[string]string{"within": "within a node", "between": "between nodes"}
	for _, l := range a.Links {
		eager := "no message waits for its receiver"
		if l.EagerLimit != nil {
			eager = "messages of more than " + text.Bytes(*l.EagerLimit) + " wait for their receiver"
		}
		q.Printf("%s: %s; %s\n", names[l.Name], describeLink(l.link), eager)
	}
	for _, l := range a.Links {
		q.Printf("\nmessages %s: error of sizes that are not fitted %s at most\n\n", names[l.Name],
			text.Percent(l.Error, 1))
		t := q.Table("bytes", "measured", "quartiles", "", "predicted", "")
		for _, m := range l.Messages {
			t.Row(text.ID(m.Bytes), text.Duration(m.Measured), text.Duration(m.Lower),
				text.Duration(m.Higher), text.Duration(m.Predicted), cli.SignedPercent(m.Predicted, m.Measured))
		}
		t.Close()
	}
	if len(a.Collectives) > 0 {
		q.Printf("\ncollective operations of %s: times in addition to messages, fitted except for bcast\n\n",
			text.Plural(a.Ranks, "rank"))
		t := q.Table("operation", "bytes", "measured", "predicted", "")
		for _, c := range a.Collectives {
			t.Row(c.Operation, text.ID(c.Bytes), text.Duration(c.Measured), text.Duration(c.Predicted),
				cli.SignedPercent(c.Predicted, c.Measured))
		}
		t.Close()
	}
	if a.Output != "" {
		q.Printf("\nthe parameters are in %s\n", text.Printable(a.Output))
	}
}
