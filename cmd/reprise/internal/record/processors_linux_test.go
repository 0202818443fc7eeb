package record

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestProcessors starts a command on one of the processors that this process may use: it may use that one
// alone, and this process all as before.
func TestProcessors(t *testing.T) {
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		t.Skip(err)
	}
	last := 0
	for n := range mostProcessors {
		if before.IsSet(n) {
			last = n
		}
	}
	list := &processors{}
	for text, wrong := range map[string]bool{"": true, "a": true, "-1": true, "99999": true, "0-1": false,
		"3,1": false} {
		if err := list.Set(text); (err != nil) != wrong {
			t.Errorf("--cpu %q: %v", text, err)
		}
	}
	only := &processors{}
	if err := only.Set(strconv.Itoa(last)); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("cat", "/proc/self/status")
	var said strings.Builder
	c.Stdout = &said
	if err := only.start(c); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "Cpus_allowed_list:\t"+strconv.Itoa(last)+"\n") {
		t.Errorf("on processor %d alone:\n%s", last, &said)
	}
	if err := unix.SchedGetaffinity(0, &after); err != nil || after != before {
		t.Errorf("afterwards on %v, %v, before on %v", after, err, before)
	}
}
