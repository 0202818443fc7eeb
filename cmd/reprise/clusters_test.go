package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestClusterScripts checks that the commands of reprise in the scripts of docs/clusters.md have options that
// there are.
func TestClusterScripts(t *testing.T) {
	page, err := os.ReadFile("../../docs/clusters.md")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for i, block := range bytes.Split(page, []byte("\n```")) {
		if i%2 == 0 {
			continue // text
		}
		for _, line := range strings.Split(string(block), "\n") {
			words := strings.Fields(line)
			for len(words) > 0 && words[0] != "reprise" {
				words = words[1:]
			}
			if len(words) < 2 {
				continue
			}
			cmd, rest, err := newRoot().Find(words[1:])
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			if err := cmd.ParseFlags(rest); err != nil {
				t.Errorf("%s: %v", line, err)
			}
			checked++
		}
	}
	if checked < 10 {
		t.Errorf("%d commands", checked)
	}
}
