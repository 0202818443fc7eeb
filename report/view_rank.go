package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// A viewRank is a rank that is viewed.
type viewRank struct {
	view   *View
	number int
	kept   int // bytes

	once     sync.Once
	err      error
	read     *trace.Rank
	clock    *query.Clock
	end      int64 // of its last call
	classOf  []int // by terminal
	threadOf []int
	threads  []int

	mu     sync.Mutex
	sums   map[int]*windowSums // by thread, of the whole run; nil until they are asked for
	recent *decoded            // what was decoded last; nil for nothing
}

// open reads the rank.
func (r *viewRank) open() error {
	r.once.Do(func() {
		if r.read, r.err = r.view.trace.Rank(r.number); r.err != nil {
			return
		}
		if r.clock, r.err = r.view.page.times.Clock(r.read); r.err != nil {
			return
		}
		if _, r.end, r.err = r.clock.Span(); r.err != nil {
			return
		}
		if !near(r.view.begin, r.end) {
			r.err = fmt.Errorf("report: the calls of rank %d are farther apart than a browser can count", r.number)
			return
		}
		seen := make(map[int]bool)
		r.classOf, r.threadOf = make([]int, r.read.Terminals()), make([]int, r.read.Terminals())
		for t := range r.classOf {
			call := r.read.Call(uint32(t))
			r.classOf[t], r.threadOf[t] = r.view.page.classOf(call.Function.Name), call.Thread()
			seen[r.threadOf[t]] = true
		}
		r.threads = slices.Sorted(maps.Keys(seen))
	})
	return r.err
}

// call returns the call at a position.
func (r *viewRank) call(position uint64) (*viewedCall, error) {
	start, duration, err := r.clock.Time(position)
	if err != nil {
		return nil, err
	}
	call := r.read.Call(r.read.Walk(position).Next().Symbol)
	c := &viewedCall{
		Rank: r.number, Position: position, Start: start - r.view.begin, Duration: max(0, duration),
		Function: r.view.page.functionNumber(call.Function.Name),
		Text:     printable(string(r.view.printer.AppendCall(nil, call))),
	}
	if len(r.threads) > 1 {
		thread := call.Thread()
		c.Thread = &thread
	}
	return c, nil
}

// next returns the first call from a position on that is kept, or the last before it.
func (r *viewRank) next(position uint64, back bool, keep func(terminal uint32) bool) (uint64, bool) {
	position = min(position, r.read.Len())
	m := sums.Of(r.read.Grammar()).Measure(func(t sequitur.Symbol) uint64 {
		if keep(t) {
			return 1
		}
		return 0
	})
	n := m.Before(position).Weight
	if back {
		n-- // wraps if there is none
	}
	if n >= m.Total().Weight {
		return 0, false
	}
	found, _, _ := m.Find(n)
	return found, true
}

// timed returns an error if the times of the calls of the rank are not known: a view has none
// to tell, as estimates are in the page.
func (r *viewRank) timed() error {
	if r.clock.Source() != query.Series {
		return &badRequest{"rank", fmt.Sprintf("%d, of which there are no times of every call", r.number)}
	}
	return nil
}

// keeper returns for which terminals a request asks.
func (r *viewRank) keeper(q *request) (func(terminal uint32) bool, error) {
	values := q.URL.Query()
	value, kind := values.Get("value"), values.Get("kind")
	number, err := strconv.Atoi(value)
	if err != nil && kind != "text" {
		return nil, &badRequest{"value", value}
	}
	value = strings.ToLower(value)
	keep := map[string]func(t uint32) bool{
		"function":  func(t uint32) bool { return r.view.page.functionNumber(r.read.Call(t).Function.Name) == number },
		"signature": func(t uint32) bool { return r.read.Signature(t) == number },
		"text": func(t uint32) bool {
			return strings.Contains(strings.ToLower(string(r.view.printer.AppendCall(nil, r.read.Call(t)))), value)
		},
	}[kind]
	if keep == nil {
		return nil, &badRequest{"kind", kind}
	}
	if !values.Has("thread") {
		return keep, nil
	}
	thread, err := q.number("thread", math.MinInt64, math.MaxInt64)
	return func(t uint32) bool { return r.threadOf[t] == int(thread) && keep(t) }, err
}

// others returns the calls at the other ends of the messages of the call at a position:
// of those that it sends and receives itself, and of those whose receipt it completes.
func (r *viewRank) others(position uint64) ([]viewedMessage, error) {
	matched, err := r.view.match()
	if err != nil {
		return nil, err
	}
	rank, err := matched.model.Of(r.read, r.number)
	if err != nil {
		return nil, err
	}
	var list []viewedMessage
	add := func(position uint64, receipts bool) error {
		o := rank.At(position, r.read.Walk(position).Next().Symbol)
		partners, err := matched.Partner(r.number, position)
		if err != nil {
			return err
		}
		for _, p := range partners {
			sends := o.Messages[p.Message].Direction == semantics.Send
			if receipts && sends || len(list) == maxMessages {
				continue
			}
			other := &viewRank{view: r.view, number: p.Rank}
			if err := other.open(); err != nil {
				return err
			}
			call, err := other.call(p.Position)
			if err != nil {
				return err
			}
			receiver, received, index := r, position, p.Message
			if sends {
				receiver, received, index = other, p.Position, p.Other
			}
			done, err := receiver.done(matched.model, received, index)
			if err != nil {
				return err
			}
			list = append(list, viewedMessage{sends, *call, *done})
		}
		return nil
	}
	if err := add(position, false); err != nil {
		return nil, err
	}
	if o := rank.At(position, r.read.Walk(position).Next().Symbol); o != nil {
		for _, request := range o.Completes {
			if began, _, ok := rank.Begun(request, position); ok && len(list) < maxMessages {
				if err := add(began, true); err != nil {
					return nil, err
				}
			}
		}
	}
	return list, nil
}

// maxWaits is how many calls are looked at for the one that completes a receive.
const maxWaits = 10_000

// done returns the call with which a receipt ends, of a message of the call at a position: that
// call, or the one that completes the request that it begins, if it comes soon.
func (r *viewRank) done(model *semantics.Model, position uint64, message int) (*viewedCall, error) {
	rank, err := model.Of(r.read, r.number)
	if err != nil {
		return nil, err
	}
	o := rank.At(position, r.read.Walk(position).Next().Symbol)
	if o == nil {
		return r.call(position)
	}
	request, later := o.Request(message)
	if !later {
		return r.call(position)
	}
	looked := 0
	for p, terminal := range r.read.Find(position+1, func(sequitur.Symbol) bool { return true }) {
		if looked++; looked > maxWaits {
			break
		}
		if o := rank.At(p, terminal); o != nil && slices.Contains(o.Completes, request) {
			if began, _, ok := rank.Begun(request, p); ok && began == position {
				return r.call(p)
			}
		}
	}
	return r.call(position)
}
