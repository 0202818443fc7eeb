// Package tracehttp records HTTP requests: those that a client sends, and those that a
// server answers.
//
//	client := http.Client{Transport: tracehttp.Transport(http.DefaultTransport, process)}
//	server := http.Server{Handler: tracehttp.Handler(mux, process)}
//
// A request is a call of http.request or http.serve: its method, its path, the size of its
// body, the status, and the size of the response. Sizes are in bytes, −1 where they are
// not known. A status of 0 means that there was none. Requests that are under way at once
// are of different threads.
package tracehttp

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/tracer"
)

var (
	request = exchange("http.request")
	serve   = exchange("http.serve")
)

func exchange(name string) tracer.Function5[string, string, int64, int, int64] {
	return tracer.Func5[string, string, int64, int, int64](name, "method", "path", "request", "out status",
		"out response")
}

// Transport returns a [http.RoundTripper] that records the requests that it sends with
// base, or with [http.DefaultTransport] if that is nil: until the head of the response is there.
func Transport(base http.RoundTripper, p *tracer.Process) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}
	return &transport{base, p}
}

type transport struct {
	base    http.RoundTripper
	process *tracer.Process
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	method, path, size := r.Method, pathOf(r), r.ContentLength
	thread := t.process.Thread()
	defer thread.Release()
	begun := thread.Begin()
	response, err := t.base.RoundTrip(r)
	status, length := 0, int64(-1)
	if err == nil {
		status, length = response.StatusCode, response.ContentLength
	}
	request.End(thread, begun, method, path, size, status, length)
	return response, err
}

// CloseIdleConnections lets a [http.Client] close those of the base.
func (t *transport) CloseIdleConnections() {
	if of, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		of.CloseIdleConnections()
	}
}

// pathOf returns the path of a request, "" for one without a URL, which is an error.
func pathOf(r *http.Request) string {
	if r.URL == nil {
		return ""
	}
	return r.URL.Path
}

// Handler returns a [http.Handler] that records the requests that next answers. Where next
// panics, the call ends there, and the panic goes on. The status is what next wrote: 0 if it
// panicked before, or took the connection over.
func Handler(next http.Handler, p *tracer.Process) http.Handler {
	need.That(next != nil, "tracehttp: no handler")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, path, size := r.Method, pathOf(r), r.ContentLength
		thread := p.Thread()
		defer thread.Release()
		begun := thread.Begin()
		counted := &writer{ResponseWriter: w}
		defer func() { serve.End(thread, begun, method, path, size, counted.status, counted.bytes) }()
		next.ServeHTTP(counted, r)
		counted.begin(http.StatusOK)
	})
}

// A writer takes note of the status and the size of a response.
type writer struct {
	http.ResponseWriter
	status int // 0 until the head is written
	bytes  int64
	begun  bool // the head is written, or never will be
}

// begin takes note of the status of the head, which is written once.
func (w *writer) begin(status int) {
	if !w.begun {
		w.status, w.begun = status, true
	}
}

func (w *writer) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols {
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(b []byte) (int, error) {
	w.begin(http.StatusOK)
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom lets [io.Copy] send files as without the writer.
func (w *writer) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(w.ResponseWriter, r)
	if n > 0 { // otherwise the head may not be written yet
		w.begin(http.StatusOK)
	}
	w.bytes += n
	return n, err
}

// Unwrap, Flush, FlushError and Hijack let handlers find what the writer can do besides.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) Flush() { _ = w.FlushError() }

func (w *writer) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	if !errors.Is(err, http.ErrNotSupported) {
		w.begin(http.StatusOK)
	}
	return err
}

func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, buffer, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.begin(0)
	}
	return c, buffer, err
}
