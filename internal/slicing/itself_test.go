package slicing

import (
	"os"
	"strings"
	"testing"
)

// TestItself checks that the command does not take itself for the compiler of the MPI, as make hands on a
// variable MPICC that names it.
func TestItself(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{self, self + " slice --as-compiler --"} {
		t.Setenv("MPICC", command)
		if got := new(Program).compiler(); got != "mpicc" {
			t.Errorf("MPICC=%q: the compiler is %q", command, got)
		}
		p := &Program{MPICC: command}
		if err := p.checkCompiler(); err == nil || !strings.Contains(err.Error(), "--mpicc") {
			t.Errorf("--mpicc %q: %v", command, err)
		}
	}
	t.Setenv("MPICC", "mpicc.mpich")
	if got := new(Program).compiler(); got != "mpicc.mpich" {
		t.Errorf("the compiler is %q", got)
	}
}
