package header

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// Read returns the functions and the constants that the mpi.h of a compiler
// command declares.
func Read(ctx context.Context, mpicc string) ([]Function, []Constant, error) {
	source, err := preprocess(ctx, mpicc, "-E", "-P")
	if err != nil {
		return nil, nil, err
	}
	functions, err := Parse(source)
	if err != nil {
		return nil, nil, err
	}
	macros, err := preprocess(ctx, mpicc, "-E", "-dM")
	if err != nil {
		return nil, nil, err
	}
	return functions, ParseConstants(macros), nil
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
