// Package paraver writes traces for Paraver, of the Barcelona Supercomputing Center: the
// records by [Write], to a file NAME.prv, what their numbers mean by [WriteConfig], to
// NAME.pcf, and the names of rows by [WriteRows], to NAME.row.
//
// The file docs/exports.md says what is written.
//
// # Cost
//
// All ranks that are chosen are read at a time, each as often as it has threads. Held are some 14 kB for each
// thread of a rank with more than a few calls, the signatures and grammars of the ranks, up to 2¹⁸ messages
// that are under way, and the records that wait. If there are more messages, those that are under way then
// are left out. Ranks that take more memory than the trace may are a [*format.MemoryError].
//
// # Source
//
// The format is that of "Paraver: Parallel Program Visualization and Analysis tool,
// Tracefile Description", CEPBA, 2001; the numbers of MPI are those of Extrae.
package paraver

import (
	"bufio"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/internal/memory"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/trace"
)

// errNoCalls means that no rank that was chosen made calls: Paraver needs one at least.
var errNoCalls = errors.New("paraver: there are no calls")

// A writer writes the records of all threads.
type writer struct {
	functions []function
	list      []cst.Function
	end       int64 // of the trace
	out       *delay
	messages  *matching
}

// Messages are those that the calls send that were chosen.
type Messages struct {
	Sent    uint64
	Written uint64 // of which there is a record
}

// Write writes the records of the calls of t that o chooses, and returns of how many
// messages there are records.
func Write(ctx context.Context, w io.Writer, t *trace.Trace, o export.Options) (Messages, error) {
	need.That(t != nil && w != nil, "export: no trace, or nothing to write to")
	choice, err := events.Open(ctx, t, o)
	if err != nil {
		return Messages{}, err
	}
	budget, err := budgetOf(choice)
	if err != nil {
		return Messages{}, err
	}
	defer choice.Close()
	if err := choice.OrderMessages(false); err != nil {
		return Messages{}, err
	}
	out := &writer{functions: functionsOf(t), list: t.Functions(), out: &delay{w: bufio.NewWriterSize(w, 64<<10)}}
	out.messages = newMatching(out.out)
	threads, tasks, err := out.open(choice, budget)
	defer func() {
		for _, s := range threads {
			s.stop()
		}
	}()
	if err != nil {
		return Messages{}, err
	}
	if tasks == 0 {
		return Messages{}, errNoCalls
	}
	out.header(t, choice, threads, tasks)
	if err := out.merge(threads); err != nil {
		return Messages{}, err
	}
	if err := choice.Done(); err != nil {
		return Messages{}, err
	}
	err = out.out.finish()
	return Messages{Sent: out.messages.sent, Written: out.out.messages}, err
}

// budgetOf returns the memory that the ranks that are chosen may take.
func budgetOf(choice *events.Trace) (*memory.Budget, error) {
	c := choice.Choice()
	return memory.Of(c.Trace, c.Ranks.Intersection(c.Trace.RankSet()).Len())
}

// open returns the threads of the ranks that are chosen, by tasks, and how many tasks
// there are.
func (w *writer) open(choice *events.Trace, budget *memory.Budget) (threads []*thread, tasks int, err error) {
	for rank, err := range choice.Ranks() {
		if err != nil {
			return threads, tasks, err
		}
		tasks++
		end, err := rank.End()
		if err != nil {
			return threads, tasks, err
		}
		w.end = max(w.end, end)
		p := &process{writer: w, rank: rank, task: tasks, calls: make([]*call, rank.Terminals())}
		w.messages.add(rank)
		numbers := slices.Sorted(rank.Threads())
		if err := budget.Take(rank.Rank, uint64(len(numbers))*heldOf(rank.Len())); err != nil {
			return threads, tasks, err
		}
		for i, number := range numbers {
			s, err := newThread(p, i+1, number, len(numbers) > 1)
			if err != nil {
				return threads, tasks, err
			}
			threads = append(threads, s)
		}
	}
	return threads, tasks, nil
}

// header writes the first line.
func (w *writer) header(t *trace.Trace, choice *events.Trace, threads []*thread, tasks int) {
	began := time.Unix(0, 0).UTC()
	if ns := choice.Begin(); ns > int64(1e18) { // since 1970
		began = time.Unix(0, ns).UTC()
	}
	counts := make([]int, tasks)
	for _, s := range threads {
		counts[s.process.task-1]++
	}
	fmt.Fprintf(w.out.w, "#Paraver (%s):%d_ns:0:1:%d(", began.Format("02/01/06 at 15:04"), w.end, tasks)
	for i, n := range counts {
		if i > 0 {
			w.out.w.WriteByte(',')
		}
		fmt.Fprintf(w.out.w, "%d:0", n)
	}
	w.out.w.WriteString(")\n")
}

// merge writes the records of all threads in the order of their times.
func (w *writer) merge(threads []*thread) error {
	var q queue
	for _, s := range threads {
		if err := s.begin(); err != nil {
			return err
		}
		if s.more {
			q = append(q, s)
		}
	}
	heap.Init(&q)
	for len(q) > 0 {
		s := q[0]
		for s.more && (len(q) == 1 || !q.after(s)) {
			if err := s.step(); err != nil {
				return err
			}
		}
		if s.more {
			heap.Fix(&q, 0)
		} else {
			heap.Pop(&q)
		}
	}
	return nil
}

// A queue is a heap of threads by the times of their next points.
type queue []*thread

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].before(q[j]) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*thread)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// after reports whether s, which is first in q, comes after another.
func (q queue) after(s *thread) bool {
	return q[1].before(s) || len(q) > 2 && q[2].before(s)
}

// function returns what a function is, by its number in the trace.
func (w *writer) function(f *cst.Function) function {
	i := slices.IndexFunc(w.list, func(g cst.Function) bool { return g.Equal(*f) })
	return w.functions[max(i, 0)]
}

// WriteRows writes the names of the tasks and threads that Write writes with the same o.
func WriteRows(ctx context.Context, w io.Writer, t *trace.Trace, o export.Options) error {
	need.That(t != nil && w != nil, "export: no trace, or nothing to write to")
	o.Progress = nil
	choice, err := events.Open(ctx, t, o)
	if err != nil {
		return err
	}
	var tasks, threads []string
	for rank, err := range choice.Ranks() {
		if err != nil {
			return err
		}
		task := fmt.Sprint("rank ", rank.Number)
		tasks = append(tasks, task)
		for _, number := range slices.Sorted(rank.Threads()) {
			threads = append(threads, fmt.Sprint(task, " thread ", number))
		}
	}
	_, err = fmt.Fprintf(w, "LEVEL TASK SIZE %d\n%s\n\nLEVEL THREAD SIZE %d\n%s\n",
		len(tasks), strings.Join(tasks, "\n"), len(threads), strings.Join(threads, "\n"))
	return err
}

// WriteConfig writes what states, types and values of events are called.
func WriteConfig(w io.Writer, t *trace.Trace) error {
	need.That(t != nil && w != nil, "export: no trace, or nothing to write to")
	b := bufio.NewWriter(w)
	b.WriteString("DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\nLOOK_BACK           100\nSPEED               1\n" +
		"FLAG_ICONS          ENABLED\nNUM_OF_STATE_COLORS 1000\nYMAX_SCALE          37\n\n\nDEFAULT_SEMANTIC\n\nTHREAD_FUNC          State As Is\n\n\nSTATES\n")
	for i, s := range stateNames {
		fmt.Fprintf(b, "%d    %s\n", i, s.name)
	}
	b.WriteString("\n\nSTATES_COLOR\n")
	for i, s := range stateNames {
		fmt.Fprintf(b, "%d    %s\n", i, s.colour)
	}
	functions, list := functionsOf(t), t.Functions()
	for _, kind := range typeNames {
		names := make(map[int]string)
		var values []int
		for i, f := range functions {
			if f.kind == kind.number && names[f.value] == "" {
				names[f.value] = events.Readable(list[i].Name)
				values = append(values, f.value)
			}
		}
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		fmt.Fprintf(b, "\n\nEVENT_TYPE\n9    %d    %s\nVALUES\n", kind.number, kind.name)
		for _, v := range values {
			fmt.Fprintf(b, "%d      %s\n", v, names[v])
		}
		b.WriteString("0      Outside\n")
	}
	return b.Flush()
}
