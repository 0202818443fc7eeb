package slicing

import (
	"os/exec"
	"strings"
)

// Demangle replaces the names of C++ in texts of one line, as compilers write them, by those that sources have.
// The texts stay if LLVM's command for that is not there.
func Demangle(texts []*string) {
	var lines []string
	isMangled := false
	for _, text := range texts {
		lines = append(lines, *text)
		isMangled = isMangled || strings.Contains(*text, "_Z")
	}
	if !isMangled {
		return
	}
	c := exec.Command("llvm-cxxfilt-16")
	c.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	said, err := c.Output()
	if lines = strings.Split(string(said), "\n"); err != nil || len(lines) < len(texts) {
		return
	}
	for k, text := range texts {
		*text = lines[k]
	}
}
