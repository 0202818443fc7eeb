package main

import (
	"net/http"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/tracer"
)

// exchange returns the function that stands for an HTTP exchange in a trace. Sizes
// are in bytes, −1 where they are not known.
func exchange(name string) cst.Function {
	return cst.Function{Name: name, Params: []cst.Param{
		{Name: "method", Type: cst.Type{Kind: cst.KindString}},
		{Name: "path", Type: cst.Type{Kind: cst.KindString}},
		{Name: "request", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "status", Type: cst.Type{Kind: cst.KindInt}, Direction: cst.Out},
		{Name: "response", Type: cst.Type{Kind: cst.KindInt}, Direction: cst.Out},
	}}
}

// A Transport is an [http.RoundTripper] that records the requests that it sends
// with another one: until the head of the response is there.
type Transport struct {
	base     http.RoundTripper
	process  *tracer.Process
	function tracer.Function
}

// NewTransport returns a Transport that sends with base.
func NewTransport(base http.RoundTripper, p *tracer.Process) *Transport {
	return &Transport{base, p, p.Declare(exchange("http.request"))}
}

// RoundTrip sends a request. A status of 0 in the trace means that there was no
// response.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	thread := t.process.Thread() // each request under way has a number
	defer thread.Release()
	begun := thread.Begin()
	response, err := t.base.RoundTrip(r)
	status, size := 0, int64(-1)
	if err == nil {
		status, size = response.StatusCode, response.ContentLength
	}
	thread.End(t.function, begun, cst.String(r.Method), cst.String(r.URL.Path), cst.Int(r.ContentLength), cst.Int(int64(status)), cst.Int(size))
	return response, err
}

// A Handler is an [http.Handler] that records the requests that another one
// answers.
type Handler struct {
	next     http.Handler
	process  *tracer.Process
	function tracer.Function
}

// NewHandler returns a Handler that lets next answer.
func NewHandler(next http.Handler, p *tracer.Process) *Handler {
	return &Handler{next, p, p.Declare(exchange("http.serve"))}
}

// ServeHTTP answers a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	thread := h.process.Thread()
	defer thread.Release()
	begun := thread.Begin()
	counted := &countingWriter{ResponseWriter: w, status: http.StatusOK}
	defer func() { // also if next panics
		thread.End(h.function, begun, cst.String(r.Method), cst.String(r.URL.Path), cst.Int(r.ContentLength),
			cst.Int(int64(counted.status)), cst.Int(counted.bytes))
	}()
	h.next.ServeHTTP(counted, r)
}

// A countingWriter takes note of the status and the size of a response.
type countingWriter struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (w *countingWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap lets [http.ResponseController] find what the writer can do besides.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
