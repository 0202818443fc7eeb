package tracehttp_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/tracehttp"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	misuse.Walk{
		Package:   "tracehttp",
		Functions: []any{tracehttp.Transport, tracehttp.Handler},
		Values: []any{new(tracer.Process), http.DefaultTransport, http.NewServeMux(),
			httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)},
		Left: map[string]string{"transport": "net/http calls it, as any other"},
	}.Run(t)
}

// TestNoTransport sends a request with none: as a client does, with that of net/http.
func TestNoTransport(t *testing.T) {
	if _, err := tracehttp.Transport(nil, nil).RoundTrip(httptest.NewRequest("GET", "none:///", nil)); err == nil {
		t.Error("a request of no protocol was sent")
	}
}
