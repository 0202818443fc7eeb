package record

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-trace/reprise/internal/layout"
)

// TestSpoolOrigin reads who made the spool of a stranger.
func TestSpoolOrigin(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, originFile)
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if o, err := spoolOrigin(dir); err != nil || !layout.NoOrigin(&o.Origin) {
		t.Errorf("none: %+v, %v", o, err)
	}
	for name, text := range map[string]string{"not JSON": "{",
		"long": `{"commands":["` + strings.Repeat("a", maxOrigin) + `"]}`} {
		write(text)
		if o, err := spoolOrigin(dir); err == nil || !layout.NoOrigin(&o.Origin) {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
	write(`{"commands":["a b"],"world_size":-1,"runs":["x"],"missing":[{"rank":-1,"records":1,"since":"9999-01-01T00:00:00Z"}]}`)
	if o, err := spoolOrigin(dir); err != nil || len(o.Commands) != 1 || len(o.Missing)+len(o.Runs)+o.World != 0 {
		t.Errorf("forged: %+v, %v", o, err)
	}
	write(`{"keep":[{"name":"times","value":"all"},{"name":"error","value":"2%"}]}`)
	cmd := NewCollect()
	if o, err := spoolOrigin(dir); err != nil || o.apply(cmd.Flags()) != nil ||
		cmd.Flags().Lookup("times").Value.String() != "all" || cmd.Flags().Lookup("error").Value.String() != "[2%]" {
		t.Errorf("kept: %+v, %v", o, err)
	}
	cmd = NewCollect()
	if err := cmd.Flags().Set("times", "none"); err != nil {
		t.Fatal(err)
	}
	if o, err := spoolOrigin(dir); err != nil || o.apply(cmd.Flags()) != nil ||
		cmd.Flags().Lookup("times").Value.String() != "none" {
		t.Errorf("given: %+v, %v", o, err)
	}
	write(`{"keep":[{"name":"output","value":"/etc/passwd"}]}`)
	if o, err := spoolOrigin(dir); err != nil || o.apply(NewCollect().Flags()) == nil {
		t.Errorf("forged: %+v, %v", o, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if o, err := spoolOrigin(dir); err == nil || !layout.NoOrigin(&o.Origin) {
		t.Errorf("pipe: %+v, %v", o, err)
	}
}
