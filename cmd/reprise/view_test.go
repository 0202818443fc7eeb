package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A line is what is written up to the first line feed.
type line struct {
	mu   sync.Mutex
	text bytes.Buffer
	done chan struct{}
}

func (l *line) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	had := bytes.ContainsRune(l.text.Bytes(), '\n')
	l.text.Write(p)
	if !had && bytes.ContainsRune(p, '\n') {
		close(l.done)
	}
	return len(p), nil
}

// TestView asks the server of a trace as its page does, and as others might who must get
// nothing, until it is interrupted.
func TestView(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.rpz")
	writeFile(t, filepath.Join(dir, "run.ti"), "0 init\n0 finalize\n")
	must(t, "compress", filepath.Join(dir, "run.ti"), "-o", path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &line{done: make(chan struct{})}
	status := make(chan int)
	go func() { status <- run(ctx, []string{"view", path}, strings.NewReader(""), out, io.Discard) }()
	select {
	case <-out.done:
	case s := <-status:
		t.Fatalf("view ended with status %d", s)
	case <-time.After(time.Minute):
		t.Fatal("view prints no address")
	}
	address := strings.TrimSpace(out.text.String())
	get := func(url, host string) (int, string) {
		t.Helper()
		r, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(body)
	}
	if code, body := get(address, ""); code != http.StatusOK || !strings.Contains(body, "<title>run.rpz</title>") {
		t.Errorf("%s: status %d", address, code)
	}
	if code, body := get(address+"rank?rank=0", ""); code != http.StatusOK || !strings.Contains(body, `"calls":2`) {
		t.Errorf("rank: status %d, %s", code, body)
	}
	server := address[:strings.Index(address[len("http://"):], "/")+len("http://")]
	for _, c := range []struct{ url, host string }{
		{server + "/", ""}, {server + "/rank?rank=0", ""}, {address[:len(address)-3] + "/", ""}, {strings.TrimSuffix(address, "/"), ""}, {address, "evil.example:80"},
	} {
		if code, body := get(c.url, c.host); code != http.StatusNotFound || strings.Contains(body, "run.rpz") {
			t.Errorf("%v: status %d", c, code)
		}
	}
	cancel()
	if s := <-status; s != exitOK {
		t.Errorf("status %d", s)
	}
}
