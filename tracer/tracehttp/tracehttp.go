// Package tracehttp records HTTP requests: those that a client sends, and those that a
// server answers.
//
//	client := http.Client{Transport: tracehttp.Transport(http.DefaultTransport, process)}
//	server := http.Server{Handler: tracehttp.Handler(mux, process)}
//
// A request is a call of http.request or http.serve: its method, its path, the size of its
// body, the status, and the size of the response. Sizes are in bytes, −1 where they are
// not known. Requests that are under way at once are of different threads.
package tracehttp

import (
	"bufio"
	"io"
	"net"
	"net/http"

	"github.com/reprise-trace/reprise/tracer"
)

var (
	request = exchange("http.request")
	serve   = exchange("http.serve")
)

func exchange(name string) tracer.Function5[string, string, int64, int, int64] {
	return tracer.Func5[string, string, int64, int, int64](name, "method", "path", "request", "out status", "out response")
}

// Transport returns a [http.RoundTripper] that records the requests that it sends with
// base: until the head of the response is there. A status of 0 means that there was none.
func Transport(base http.RoundTripper, p *tracer.Process) http.RoundTripper {
	return &transport{base, p}
}

type transport struct {
	base    http.RoundTripper
	process *tracer.Process
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	method, path, size := r.Method, r.URL.Path, r.ContentLength
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

// Handler returns a [http.Handler] that records the requests that next answers. Where next
// panics, the call ends there, and the panic goes on.
func Handler(next http.Handler, p *tracer.Process) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, path, size := r.Method, r.URL.Path, r.ContentLength
		thread := p.Thread()
		defer thread.Release()
		begun := thread.Begin()
		counted := &writer{ResponseWriter: w, status: http.StatusOK}
		defer func() { serve.End(thread, begun, method, path, size, counted.status, counted.bytes) }()
		next.ServeHTTP(counted, r)
	})
}

// A writer takes note of the status and the size of a response.
type writer struct {
	http.ResponseWriter
	status int
	bytes  int64
	begun  bool // the head is written
}

func (w *writer) WriteHeader(status int) {
	if !w.begun && (status >= 200 || status == http.StatusSwitchingProtocols) {
		w.status, w.begun = status, true
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *writer) Write(b []byte) (int, error) {
	w.begun = true
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// ReadFrom lets [io.Copy] send files as without the writer.
func (w *writer) ReadFrom(r io.Reader) (int64, error) {
	w.begun = true
	n, err := io.Copy(w.ResponseWriter, r)
	w.bytes += n
	return n, err
}

// Unwrap, Flush and Hijack let handlers find what the writer can do besides.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *writer) Flush() { _ = http.NewResponseController(w.ResponseWriter).Flush() }

func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.ResponseWriter).Hijack()
}
