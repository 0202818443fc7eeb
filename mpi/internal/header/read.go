package header

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os/exec"
	"strings"
)

// A Header is what an mpi.h declares.
type Header struct {
	Functions []Function
	Constants []Constant
	Digest    [sha256.Size]byte // of the whole mpi.h
}

// Read reads the mpi.h of a compiler command.
func Read(ctx context.Context, mpicc string) (*Header, error) {
	source, err := preprocess(ctx, mpicc, "-E", "-P")
	if err != nil {
		return nil, err
	}
	functions, err := Parse(source)
	if err != nil {
		return nil, err
	}
	macros, err := preprocess(ctx, mpicc, "-E", "-dM")
	if err != nil {
		return nil, err
	}
	return &Header{functions, ParseConstants(macros), sha256.Sum256([]byte(source + macros))}, nil
}

func preprocess(ctx context.Context, mpicc string, flags ...string) (string, error) {
	command := exec.CommandContext(ctx, mpicc, append(flags, "-x", "c", "-")...)
	command.Stdin = strings.NewReader("#include <mpi.h>\n")
	var message strings.Builder
	command.Stderr = &message
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("header: %s: %w\n%s", command, err, message.String())
	}
	return string(output), nil
}
