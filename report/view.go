package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// A View serves the report of a trace to a browser, and with it what the timeline shows of
// the times of every call, whatever the size of the trace: single calls where they can be
// told apart, and sums over spans of time where they cannot.
//
// What a browser asks for costs decoding the calls of the part of the timeline that it
// shows, or sums over spans of the whole run, which are made once for each rank that is
// shown, by decoding all of its calls. It keeps some 96 MB of these sums, and of the times
// that it has decoded last, and 24 bytes for each call that waited, if these are known.
type View struct {
	trace *trace.Trace
	page  *page
	html  []byte
	begin int64 // of the first call of the run
	match func() (*matched, error)

	printer *trace.Printer

	mu    sync.Mutex
	ranks map[int]*viewRank
	order []int // of ranks, the one that was asked for last at the end
	size  int   // of what is kept of them, in bytes
}

// A matched is the messages of a trace, and what its calls mean.
type matched struct {
	*query.Match
	model *semantics.Model
}

// maxKept is how many bytes of sums and times of calls a View keeps, about.
const maxKept = 96 << 20

// rankBytes is how many bytes are kept of a rank besides, about.
const rankBytes = 64 << 10

// OpenView makes the report of a trace, which must stay open while it is viewed.
func OpenView(ctx context.Context, tr *trace.Trace, o Options) (*View, error) {
	p, err := gather(ctx, tr, o.filled(), true)
	if err != nil {
		return nil, err
	}
	v := &View{trace: tr, page: p, ranks: make(map[int]*viewRank), begin: p.begin,
		printer: tr.Printer(trace.PrintOptions{Absolute: true})}
	v.match = sync.OnceValues(func() (*matched, error) {
		ctx := context.WithoutCancel(ctx) // it may be asked for at any time
		model, err := semantics.Open(ctx, tr)
		if err != nil {
			return nil, err
		}
		m, err := query.OpenMatch(ctx, model, query.Options{})
		return &matched{m, model}, err
	})
	if p.Timeline == nil {
		if v.begin, err = p.times.Begin(); err != nil {
			return nil, err
		}
	}
	v.html, err = p.render()
	return v, err
}

// ServeHTTP answers what the page asks for, by the last part of the path: nothing is the
// page itself.
func (v *View) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if r.Method != http.MethodGet {
		http.Error(w, "only GET is served", http.StatusMethodNotAllowed)
		return
	}
	answer := map[string]func(*request) (any, error){
		"rank": v.rank, "window": v.window, "call": v.call, "find": v.find,
		"usage": v.usage}[strings.TrimPrefix(r.URL.Path, "/")]
	switch {
	case r.URL.Path == "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(v.html)
	case answer == nil:
		http.NotFound(w, r)
	default:
		v.answer(w, r, answer)
	}
}

// answer writes what answers a request, as JSON.
func (v *View) answer(w http.ResponseWriter, r *http.Request, answer func(*request) (any, error)) {
	q := &request{Request: r}
	result, err := answer(q)
	var bad *badRequest
	switch {
	case errors.As(err, &bad):
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(result) // who does not read it does not want it
}

// A request has numbers by name.
type request struct{ *http.Request }

// A badRequest is one with a value that is missing or makes no sense.
type badRequest struct{ name, value string }

func (e *badRequest) Error() string { return fmt.Sprintf("%s is %q", e.name, e.value) }

// number returns a number from least to most.
func (r *request) number(name string, least, most int64) (int64, error) {
	text := r.URL.Query().Get(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, &badRequest{name, text}
	}
	return n, nil
}

// span returns the times from and to.
func (v *View) span(r *request) (from, to int64, err error) {
	most := min(exactTime, math.MaxInt64-max(0, v.begin))
	if from, err = r.number("from", 0, most-1); err == nil {
		to, err = r.number("to", from+1, most)
	}
	return v.begin + from, v.begin + to, err
}

// open returns the rank of a request.
func (v *View) open(r *request) (*viewRank, error) {
	n, err := r.number("rank", 0, int64(v.trace.Ranks())-1)
	if err != nil {
		return nil, err
	}
	rank := int(n)
	v.mu.Lock()
	known := v.ranks[rank]
	if known == nil {
		known = &viewRank{view: v, number: rank, kept: rankBytes}
		v.ranks[rank], v.size = known, v.size+rankBytes
	}
	v.used(rank)
	v.mu.Unlock()
	return known, known.open()
}

// used takes note that a rank was asked for. Others are forgotten if their sums are too large.
func (v *View) used(rank int) {
	for i, r := range v.order {
		if r == rank {
			v.order = append(v.order[:i], v.order[i+1:]...)
			break
		}
	}
	v.order = append(v.order, rank)
	for v.size > maxKept && len(v.order) > 1 {
		v.size -= v.ranks[v.order[0]].kept
		delete(v.ranks, v.order[0])
		v.order = v.order[1:]
	}
}

// keep takes note that more bytes are kept of a rank.
func (v *View) keep(r *viewRank, size int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ranks[r.number] == r {
		r.kept += size
		v.size += size
	}
}

// A viewedCall is a call as a browser is told of it. Times count from the first call of the run.
type viewedCall struct {
	Rank     int    `json:"rank"`
	Thread   *int   `json:"thread,omitempty"`
	Position uint64 `json:"position"`
	Start    int64  `json:"start"`
	Duration int64  `json:"duration"`
	Function int    `json:"function"`
	Text     string `json:"text"`

	Messages []viewedMessage `json:"messages,omitempty"`
}

// A viewedMessage is a message of a call, with the call at its other end.
type viewedMessage struct {
	Sends bool       `json:"sends"`
	Other viewedCall `json:"other"`
	Done  viewedCall `json:"done"` // with which the receipt ends
}

// maxMessages is how many messages of a call are told.
const maxMessages = 64

// call tells of the call of a rank at a position, and of its messages.
func (v *View) call(r *request) (any, error) {
	rank, err := v.open(r)
	if err != nil {
		return nil, err
	}
	position, err := r.number("position", 0, int64(rank.read.Len())-1)
	if err != nil {
		return nil, err
	}
	if err := rank.timed(); err != nil {
		return nil, err
	}
	call, err := rank.call(uint64(position))
	if err != nil {
		return nil, err
	}
	call.Messages, err = rank.others(uint64(position))
	if err != nil {
		return nil, err
	}
	return call, nil
}

// find tells which call of a rank, or of one of its threads, is the next of a function, of a
// signature, or with a text in its words, from a position on, or with step −1 the last before it.
func (v *View) find(r *request) (any, error) {
	rank, err := v.open(r)
	if err != nil {
		return nil, err
	}
	position, err := r.number("position", 0, 1<<62)
	if err != nil {
		return nil, err
	}
	step, err := r.number("step", -1, 1)
	if err != nil {
		return nil, err
	}
	keep, err := rank.keeper(r)
	if err != nil {
		return nil, err
	}
	if err := rank.timed(); err != nil {
		return nil, err
	}
	found, ok := rank.next(uint64(position), step < 0, keep)
	if !ok {
		return nil, nil
	}
	return rank.call(found)
}
