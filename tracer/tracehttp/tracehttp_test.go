package tracehttp_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tracertest"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/tracehttp"
)

func Example() {
	dir, err := os.MkdirTemp("", "tracehttp")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "client.rpz")
	process, err := tracer.Open(tracer.Config{Path: path})
	if err != nil {
		log.Fatal(err)
	}

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello")
	}))
	defer server.Close()
	client := http.Client{Transport: tracehttp.Transport(http.DefaultTransport, process)}
	for range 2 {
		r, err := client.Get(server.URL + "/greeting")
		if err != nil {
			log.Fatal(err)
		}
		r.Body.Close()
	}

	if err := process.Close(); err != nil {
		log.Fatal(err)
	}
	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	rank, err := tr.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	for c, err := range rank.Calls(0) {
		fmt.Println(c, err)
	}
	// Output:
	// http.request(method="GET", path="/greeting", request=0, status=200, response=5) <nil>
	// http.request(method="GET", path="/greeting", request=0, status=200, response=5) <nil>
}

// TestHandler checks what is recorded of handlers that write in several ways, or panic.
func TestHandler(t *testing.T) {
	p := tracertest.Open(t, tracer.Config{})
	var want []string
	for name, tt := range map[string]struct {
		handle func(w http.ResponseWriter)
		status int
		bytes  int
	}{
		"nothing": {func(http.ResponseWriter) {}, 200, 0},
		"status": {func(w http.ResponseWriter) {
			w.WriteHeader(404)
			w.WriteHeader(500)
			io.WriteString(w, "none")
		}, 404, 4},
		"hint":  {func(w http.ResponseWriter) { w.WriteHeader(103); w.WriteHeader(201) }, 201, 0},
		"copy":  {func(w http.ResponseWriter) { io.Copy(w, strings.NewReader("twelve bytes")) }, 200, 12},
		"flush": {func(w http.ResponseWriter) { io.WriteString(w, "a"); w.(http.Flusher).Flush() }, 200, 1},
		"panic": {func(http.ResponseWriter) { panic("lost") }, 0, 0},
	} {
		h := tracehttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			tt.handle(w)
		}), p.Process)
		func() {
			defer func() {
				if (recover() != nil) != (name == "panic") {
					t.Errorf("%s: the panic is lost, or there is one", name)
				}
			}()
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("PUT", "/"+name, strings.NewReader("body")))
		}()
		want = append(want,
			fmt.Sprintf(`http.serve(method="PUT", path="/%s", request=4, status=%d, response=%d)`, name,
				tt.status, tt.bytes))
	}
	failing := tracehttp.Transport(http.NewFileTransport(http.Dir("/nowhere")), p.Process)
	if _, err := failing.RoundTrip(httptest.NewRequest("GET", "file:///x", nil)); err != nil {
		t.Fatal(err)
	}
	want = append(want, `http.request(method="GET", path="/x", request=0, status=404, response=-1)`)
	p.Check(t, want...)
}

// TestStatus compares what is recorded of handlers with what a client of a real server sees.
func TestStatus(t *testing.T) {
	p := tracertest.Open(t, tracer.Config{})
	var want []string
	for _, handle := range []func(w http.ResponseWriter){
		func(w http.ResponseWriter) { w.(http.Flusher).Flush(); w.WriteHeader(500) },
		func(w http.ResponseWriter) { http.NewResponseController(w).Flush(); w.WriteHeader(500) },
		func(w http.ResponseWriter) { w.(io.ReaderFrom).ReadFrom(strings.NewReader("")); w.WriteHeader(500) },
		func(w http.ResponseWriter) { w.(io.ReaderFrom).ReadFrom(strings.NewReader("a")); w.WriteHeader(500) },
		func(w http.ResponseWriter) { w.Write(nil); w.WriteHeader(500) },
		func(w http.ResponseWriter) { w.WriteHeader(404); w.(http.Flusher).Flush(); panic(http.ErrAbortHandler) },
		func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		func(http.ResponseWriter) { runtime.Goexit() },
		func(w http.ResponseWriter) {
			if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
				c.Close()
			}
		},
	} {
		ended := make(chan bool, 1)
		h := tracehttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { handle(w) }), p.Process)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() { ended <- true }()
			h.ServeHTTP(w, r)
		}))
		status, n := 0, 0
		if r, err := http.Get(server.URL); err == nil {
			b, _ := io.ReadAll(r.Body)
			r.Body.Close()
			status, n = r.StatusCode, len(b)
		}
		<-ended
		server.Close()
		want = append(want,
			fmt.Sprintf(`http.serve(method="GET", path="/", request=0, status=%d, response=%d)`, status, n))
	}
	p.Check(t, want...)
}

// A failing cannot flush, and fails to send.
type failing struct{ http.ResponseWriter }

func (failing) FlushError() error { return io.ErrClosedPipe }

func (failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.ErrClosedPipe }

// TestErrors checks that errors of what is wrapped get to the caller.
func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		w    http.ResponseWriter
		want error
	}{
		{httptest.NewRecorder(), nil},
		{struct{ http.ResponseWriter }{httptest.NewRecorder()}, http.ErrNotSupported},
		{failing{httptest.NewRecorder()}, io.ErrClosedPipe},
	} {
		tracehttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if err := http.NewResponseController(w).Flush(); !errors.Is(err, tt.want) {
				t.Errorf("%T: %v, want %v", tt.w, err, tt.want)
			}
		}), nil).ServeHTTP(tt.w, new(http.Request)) // which has no URL
	}
	if _, err := tracehttp.Transport(failing{}, nil).RoundTrip(new(http.Request)); err != io.ErrClosedPipe {
		t.Error(err)
	}
}

// An idle counts how often its idle connections are closed.
type idle struct {
	http.RoundTripper
	closed int
}

func (i *idle) CloseIdleConnections() { i.closed++ }

func TestCloseIdleConnections(t *testing.T) {
	var base idle
	client := http.Client{Transport: tracehttp.Transport(&base, nil)}
	client.CloseIdleConnections()
	if base.closed != 1 {
		t.Error("idle connections stay open")
	}
	client.Transport = tracehttp.Transport(failing{}, nil) // which has none
	client.CloseIdleConnections()
}
