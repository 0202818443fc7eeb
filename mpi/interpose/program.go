package interpose

import (
	"context"
	"crypto/sha256"
	_ "embed" // for the reducer
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
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
	path, err := c.tool(ctx, []string{mpicc, flag, "-std=gnu11", "-w"}, nil, does, h.Digest[:], source, building)
	if err != nil {
		return nil, err
	}
	return &Program{Path: path, MPI: h.Version}, nil
}

// BuildTool returns the path of a program of a source in C, compiled by a command, such as cc -O2, and linked with
// libraries, such as -lm. It builds it where and as [Build] does; its name there says what it does. If it must
// build it, it first calls building, unless that is nil.
func BuildTool(ctx context.Context, command, libraries []string, cacheDir, does string, source []byte,
	building func()) (string, error) {
	need.That(len(command) > 0, "interpose: no compiler command")
	command = append(slices.Clone(command), "-std=gnu11", "-w")
	return cache{directory: cacheDir}.tool(ctx, command, libraries, does, nil, source, building)
}

// tool returns the path of a program that depends on a digest of other files, too.
func (c cache) tool(ctx context.Context, command, libraries []string, does string, digest, source []byte,
	building func()) (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q\n%x\n", command, libraries, digest)
	hash.Write(source)
	name := fmt.Sprintf("reprise-%s-%x", does, hash.Sum(nil)[:8])
	if building == nil {
		building = func() {}
	}
	return buildOnce(ctx, c, name, building, func(path string) error {
		return compileTo(ctx, "the program to "+does, command, libraries, source, path)
	})
}

//go:embed reducer/reduce.c
var reducer string

// BuildReducer returns a program whose processes reduce part files along a tree, as [BuildProgram] does. Each
// is started by a process that merges: reducer/tree.c says what they tell each other.
func BuildReducer(ctx context.Context, mpicc, cacheDir string, building func()) (*Program, error) {
	return BuildProgram(ctx, mpicc, cacheDir, "reduce", "-O2", []byte(treeSource+reducer), building)
}
