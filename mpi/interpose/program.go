package interpose

import (
	"context"
	"crypto/sha256"
	_ "embed" // for the reducer
	"fmt"
)

// A Program is one that was built for an MPI.
type Program struct {
	Path string
	MPI  string // as in [Interposer]
}

// BuildProgram returns the program of a source in C for the MPI that a compiler command belongs to,
// compiled with a flag such as -O2. It builds it where and as [Build] does; its name there says
// what it does. If it must build it, it first calls building, unless that is nil.
func BuildProgram(ctx context.Context, mpicc, cacheDir, does, flag string, source []byte,
	building func()) (*Program, error) {
	c := cache{directory: cacheDir}
	h, err := c.header(ctx, mpicc)
	if err != nil {
		return nil, err
	}
	command := []string{mpicc, flag, "-std=gnu11", "-w"}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n%x\n", command, h.Digest)
	hash.Write(source)
	name := fmt.Sprintf("reprise-%s-%x", does, hash.Sum(nil)[:8])
	if building == nil {
		building = func() {}
	}
	path, err := buildOnce(ctx, c, name, building, func(path string) error {
		return compileTo(ctx, "the program to "+does, command, nil, source, path)
	})
	if err != nil {
		return nil, err
	}
	return &Program{Path: path, MPI: h.Version}, nil
}

//go:embed reducer/reduce.c
var reducer string

// BuildReducer returns a program whose processes reduce part files along a tree, as [BuildProgram] does. Each
// is started by a process that merges: reducer/tree.c says what they tell each other.
func BuildReducer(ctx context.Context, mpicc, cacheDir string, building func()) (*Program, error) {
	return BuildProgram(ctx, mpicc, cacheDir, "reduce", "-O2", []byte(treeSource+reducer), building)
}
