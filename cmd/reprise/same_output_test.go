//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestSameOutput writes one output by several commands at once: it is that of one of them, and nothing else is left.
func TestSameOutput(t *testing.T) {
	t.Chdir(t.TempDir())
	const writers = 8
	var want []string
	for i := range writers {
		writeFile(t, fmt.Sprintf("in%d.txt", i), "0 init\n"+strings.Repeat(fmt.Sprintf("0 send 0 %d 8 1\n", i), 1000*(i+1))+"0 finalize\n")
		must(t, "compress", fmt.Sprintf("in%d.txt", i), "-o", "out.rpz")
		b, err := os.ReadFile("out.rpz")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, string(b))
	}
	before := fileNames(t)
	for range 3 {
		var commands [writers]*exec.Cmd
		var errors [writers]bytes.Buffer
		for i := range commands {
			commands[i] = process(t, "compress", fmt.Sprintf("in%d.txt", i), "-o", "out.rpz")
			commands[i].Stderr = &errors[i]
			if err := commands[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		for i, c := range commands {
			if err := c.Wait(); err != nil {
				t.Errorf("%v: %s", err, &errors[i])
			}
		}
		got, err := os.ReadFile("out.rpz")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(want, string(got)) {
			t.Errorf("%d bytes of no command", len(got))
		}
		if after := fileNames(t); after != before {
			t.Errorf("left: %s", after)
		}
	}
}
