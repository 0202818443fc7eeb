package tracehttp_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/tracehttp"
)

// calls returns the calls in the part file of a process, which it closes.
func calls(p *tracer.Process, path string) ([]string, error) {
	if err := p.Close(); err != nil {
		return nil, err
	}
	trace, err := reprise.Open(path)
	if err != nil {
		return nil, err
	}
	defer trace.Close()
	rank, err := trace.Rank(0)
	if err != nil {
		return nil, err
	}
	var list []string
	for c, err := range rank.Calls() {
		if err != nil {
			return nil, err
		}
		list = append(list, c.String())
	}
	return list, nil
}

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

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") }))
	defer server.Close()
	client := http.Client{Transport: tracehttp.Transport(http.DefaultTransport, process)}
	for range 2 {
		r, err := client.Get(server.URL + "/greeting")
		if err != nil {
			log.Fatal(err)
		}
		r.Body.Close()
	}

	list, err := calls(process, path)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range list {
		fmt.Println(c)
	}
	// Output:
	// http.request(method="GET", path="/greeting", request=0, status=200, response=5)
	// http.request(method="GET", path="/greeting", request=0, status=200, response=5)
}

// TestHandler checks what is recorded of handlers that write in several ways, or panic.
func TestHandler(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.rpz")
	p, err := tracer.Open(tracer.Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for name, tt := range map[string]struct {
		handle func(w http.ResponseWriter)
		status int
		bytes  int
	}{
		"nothing": {func(http.ResponseWriter) {}, 200, 0},
		"status":  {func(w http.ResponseWriter) { w.WriteHeader(404); w.WriteHeader(500); io.WriteString(w, "none") }, 404, 4},
		"hint":    {func(w http.ResponseWriter) { w.WriteHeader(103); w.WriteHeader(201) }, 201, 0},
		"copy":    {func(w http.ResponseWriter) { io.Copy(w, strings.NewReader("twelve bytes")) }, 200, 12},
		"flush":   {func(w http.ResponseWriter) { io.WriteString(w, "a"); w.(http.Flusher).Flush() }, 200, 1},
		"panic":   {func(http.ResponseWriter) { panic("lost") }, 200, 0},
	} {
		h := tracehttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { tt.handle(w) }), p)
		func() {
			defer func() {
				if (recover() != nil) != (name == "panic") {
					t.Errorf("%s: the panic is lost, or there is one", name)
				}
			}()
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("PUT", "/"+name, strings.NewReader("body")))
		}()
		want = append(want, fmt.Sprintf(`http.serve(method="PUT", path="/%s", request=4, status=%d, response=%d)`, name, tt.status, tt.bytes))
	}
	failing := tracehttp.Transport(http.NewFileTransport(http.Dir("/nowhere")), p)
	if _, err := failing.RoundTrip(httptest.NewRequest("GET", "file:///x", nil)); err != nil {
		t.Fatal(err)
	}
	want = append(want, `http.request(method="GET", path="/x", request=0, status=404, response=-1)`)
	if got, err := calls(p, path); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
