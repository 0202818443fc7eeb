package cli

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestLargePages checks in a process of its own that memory which is allocated after LargePages takes few faults.
func TestLargePages(t *testing.T) {
	const size = 64 << 20
	if os.Getenv("LARGE_PAGES") != "" {
		LargePages(2 * size)
		before := faults()
		heap := make([]byte, size)
		for i := 0; i < size; i += 4096 {
			heap[i] = 1
		}
		if n := faults() - before; n > size/4096/4 {
			t.Fatalf("%d faults of %d pages", n, size/4096)
		}
		return
	}
	mode, _ := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if !strings.Contains(string(mode), "[madvise]") {
		t.Skip("large pages are not given to who asks for them")
	}
	c := exec.Command(os.Args[0], "-test.run=^TestLargePages$")
	c.Env = append(os.Environ(), "LARGE_PAGES=1")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func faults() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Minflt
}
