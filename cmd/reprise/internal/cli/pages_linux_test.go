// The race detector has memory of its own for each word of the heap.

//go:build !race

package cli

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestLargePages checks in a process of its own that memory which is allocated after LargePages takes few faults,
// where the kernel has large pages: it may have none.
func TestLargePages(t *testing.T) {
	if os.Getenv("LARGE_PAGES") != "" {
		asked, err := syscall.Mmap(-1, 0, size+2<<20, syscall.PROT_READ|syscall.PROT_WRITE,
			syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Madvise(asked, syscall.MADV_HUGEPAGE); err != nil || touched(asked[:size]) > few {
			t.Skip("the kernel has none now")
		}
		if err := syscall.Munmap(asked); err != nil {
			t.Fatal(err)
		}
		LargePages(2 * size)
		if n := touched(make([]byte, size)); n > few {
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

const size = 64 << 20

// few is how many faults touched has at most where pages are large, an eighth of those of small ones.
const few = size / 4096 / 8

// touched touches each page, and returns how many faults that takes.
func touched(memory []byte) int64 {
	var before, after syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	return int64(after.Minflt) - int64(before.Minflt)
}
