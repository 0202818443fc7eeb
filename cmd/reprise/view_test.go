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

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
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
		{server + "/", ""}, {server + "/rank?rank=0", ""}, {address[:len(address)-3] + "/", ""},
		{strings.TrimSuffix(address, "/"), ""}, {address, "evil.example:80"},
	} {
		if code, body := get(c.url, c.host); code != http.StatusNotFound || strings.Contains(body, "run.rpz") {
			t.Errorf("%v: status %d", c, code)
		}
	}
	cancel()
	if s := <-status; s != cli.ExitOK {
		t.Errorf("status %d", s)
	}
}

// ask runs a command to its end. A view it asks for what its page does, and interrupts it.
func ask(t *testing.T, args ...string) result {
	t.Helper()
	if args[0] != "view" {
		return invoke(t, "", args...)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &line{done: make(chan struct{})}
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, args, strings.NewReader(""), out, &stderr) }()
	select {
	case status := <-ended:
		return result{status, out.text.String(), stderr.String()}
	case <-out.done:
	}
	for _, of := range []string{"", "rank?rank=0", "window?rank=0&from=0&to=1000000000&columns=100",
		"call?rank=0&position=3", "find?rank=0&function=0&position=0&step=1", "usage?rank=0&from=0&to=1000000000"} {
		answer, err := http.Get(strings.TrimSpace(out.text.String()) + of)
		if err != nil {
			t.Errorf("%q: %v", of, err)
			continue
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	cancel()
	return result{<-ended, out.text.String(), stderr.String()}
}
