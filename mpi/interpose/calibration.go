package interpose

import (
	"bufio"
	"cmp"
	"context"
	_ "embed" // for the program
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/need"
)

//go:embed calibrator/calibrate.c
var calibrator []byte

// BuildCalibrator returns a program that measures what messages and collective operations take, as
// [BuildProgram] does. It is to be started on two ranks or more, and writes to the standard output of rank 0:
// see [ReadCalibration].
func BuildCalibrator(ctx context.Context, mpicc, cacheDir string) (*Program, error) {
	return BuildProgram(ctx, mpicc, cacheDir, "calibrate", "-O2", calibrator, nil)
}

// A Calibration is what a calibrator has measured. Times are in nanoseconds: the mean of all rounds but those
// in which another program had the processor, in the pass over all that is measured in which this is
// smallest.
type Calibration struct {
	Nodes       []int // of each rank: the first rank on its node
	Processors  int   // of the node of rank 0
	Within      *LinkTimes
	Between     *LinkTimes
	Collectives []CollectiveTime

	Delayed float64 // for which share of the time other programs had the processor of a rank, of that with most; 0 where that is not known
}

// LinkTimes are times of messages between two ranks on one node, or on two.
type LinkTimes struct {
	OneWay             []MessageTime // half of a round trip
	Send, Receive, Gap float64       // of small messages: of calls, and of a send among others
	// of a message of 64 KiB, and of four that are sent at one time, until all have come
	Alone, Together float64
	// the largest message whose send does not wait for a receiver that is late; −1 if all do
	EagerLimit int64
	Unlimited  bool // none waits, as far as was tried
}

// A MessageTime is how long messages of a size take: the mean, and the quartiles.
type MessageTime struct {
	Bytes                      int64
	Nanoseconds, Lower, Higher float64
}

// A CollectiveTime is how long a collective operation takes on rank 0 among [Batch] of its kind, and how
// many bytes a member gives.
type CollectiveTime struct {
	Operation   string // barrier, bcast, allreduce or alltoall
	Bytes       int64  // of an alltoall, to each
	Nanoseconds float64
}

// Batch is how many collective operations follow each other when they are measured.
const Batch = 20

// ReadCalibration reads what a calibrator writes, and writes to others what others have written to the same
// output.
func ReadCalibration(r io.Reader, others io.Writer) (*Calibration, error) {
	need.That(r != nil && others != nil, "interpose: nothing to read from, or nothing to write to")
	c := &Calibration{}
	ended := false
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24) // others may write long lines
	for lines.Scan() {
		fields := strings.Split(strings.TrimRight(lines.Text(), "\r"), "\t")
		// A launcher may write something in front of each line.
		if !strings.HasSuffix(fields[0], "reprise-calibrate") || len(fields) < 2 {
			if lines.Text() != "" {
				fmt.Fprintln(others, lines.Text())
			}
			continue
		}
		if fields[1] == "end" {
			ended = true
			continue
		}
		if err := c.add(fields[1:]); err != nil {
			return nil, fmt.Errorf("interpose: %q: %w", lines.Text(), err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("interpose: %w", err)
	}
	if len(c.Nodes) == 0 {
		return nil, errors.New("interpose: nothing was measured")
	}
	if !ended {
		return nil, errors.New("interpose: what was measured ends early")
	}
	return c, nil
}

// add adds a line.
func (c *Calibration) add(fields []string) error {
	if fields[0] == "rank" && len(fields) == 4 {
		return c.addRank(fields[1:])
	}
	if fields[0] == "delayed" && len(fields) == 2 {
		share, err := strconv.ParseFloat(fields[1], 64)
		if err == nil && !(share >= 0 && share <= 1) {
			err = errors.New("not a share")
		}
		c.Delayed = share
		return err
	}
	if len(fields) != 6 {
		return fmt.Errorf("%d fields", len(fields))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err == nil && size < 0 && fields[0] != "eager" {
		err = errors.New("no number of bytes")
	}
	m := MessageTime{Bytes: size}
	for i, to := range []*float64{&m.Lower, &m.Nanoseconds, &m.Higher} {
		v, e := strconv.ParseFloat(fields[3+i], 64)
		if e == nil && !(v >= 0 && v < 1e15) {
			e = errors.New("not a time")
		}
		err = errors.Join(err, e)
		*to = v
	}
	if err != nil {
		return err
	}
	if fields[0] == "collective" {
		c.Collectives = least(c.Collectives, CollectiveTime{fields[1], size, m.Nanoseconds},
			func(a, b CollectiveTime) int {
				return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Bytes, b.Bytes))
			}, func(t CollectiveTime) float64 { return t.Nanoseconds })
		return nil
	}
	var l *LinkTimes
	switch fields[1] {
	case "within":
		l = orNew(&c.Within)
	case "between":
		l = orNew(&c.Between)
	default:
		return fmt.Errorf("%q is no link", fields[1])
	}
	return l.add(fields[0], m)
}

func orNew[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

func (c *Calibration) addRank(fields []string) error {
	var numbers [3]int
	for i, field := range fields {
		n, err := strconv.Atoi(field)
		if err != nil {
			return err
		}
		numbers[i] = n
	}
	if numbers[0] != len(c.Nodes) || numbers[1] < 0 || numbers[1] > numbers[0] {
		return fmt.Errorf(
			"rank %d on the node of rank %d follows %d ranks: every process is rank 0 if the launcher is of another MPI", numbers[0], numbers[1], len(c.Nodes))
	}
	c.Nodes = append(c.Nodes, numbers[1])
	c.Processors = numbers[2]
	return nil
}

// add adds what was measured of messages.
func (l *LinkTimes) add(what string, m MessageTime) error {
	smaller := func(to *float64) {
		if *to == 0 || m.Nanoseconds < *to {
			*to = m.Nanoseconds
		}
	}
	switch what {
	case "one-way":
		l.OneWay = least(l.OneWay, m, func(a, b MessageTime) int {
			return cmp.Compare(a.Bytes, b.Bytes)
		}, func(t MessageTime) float64 { return t.Nanoseconds })
	case "send":
		smaller(&l.Send)
	case "receive":
		smaller(&l.Receive)
	case "gap":
		smaller(&l.Gap)
	case "alone":
		smaller(&l.Alone)
	case "together":
		smaller(&l.Together)
	case "eager":
		l.EagerLimit = m.Bytes
	case "unlimited":
		l.Unlimited = true
	default:
		return fmt.Errorf("%q is not measured", what)
	}
	return nil
}

// least adds to a sorted list what it does not have, or replaces what takes longer.
func least[T any](list []T, value T, compare func(a, b T) int, of func(T) float64) []T {
	i, found := slices.BinarySearchFunc(list, value, compare)
	switch {
	case !found:
		return slices.Insert(list, i, value)
	case of(value) < of(list[i]):
		list[i] = value
	}
	return list
}
