package header

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/group"
)

// A Header is what an mpi.h declares.
type Header struct {
	Functions []Function
	Constants []Constant
	Version   string            // of the implementation, such as "MPICH 4.0.2"
	Digest    [sha256.Size]byte // of the whole mpi.h
	Files     []string          // that it was read from: mpi.h and those that it includes
}

// Read reads the mpi.h of a compiler command.
func Read(ctx context.Context, mpicc string) (*Header, error) {
	source, err := preprocess(ctx, mpicc, "-E")
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
	return &Header{functions, ParseConstants(macros), version(macros), sha256.Sum256([]byte(source + macros)),
		filesOf(source)}, nil
}

// marker matches the lines in which a preprocessor says what file follows.
var marker = regexp.MustCompile(`(?m)^#(?:line)? \d+ "(/[^"\n]*)"`)

// filesOf returns the files that a preprocessed source was read from.
func filesOf(source string) (files []string) {
	for _, match := range marker.FindAllStringSubmatch(source, -1) {
		if !slices.Contains(files, match[1]) {
			files = append(files, match[1])
		}
	}
	return files
}

var versionMacro = regexp.MustCompile(`(?m)^#define (MPICH_VERSION|OMPI_(?:MAJOR|MINOR|RELEASE)_VERSION) "?([0-9.]+)`)

// version returns the version that the macros of the known implementations give.
func version(macros string) string {
	values := make(map[string]string)
	for _, match := range versionMacro.FindAllStringSubmatch(macros, -1) {
		values[match[1]] = match[2]
	}
	switch {
	case values["MPICH_VERSION"] != "":
		return "MPICH " + values["MPICH_VERSION"]
	case values["OMPI_MAJOR_VERSION"] != "":
		return "Open MPI " + values["OMPI_MAJOR_VERSION"] + "." + values["OMPI_MINOR_VERSION"] + "." +
			values["OMPI_RELEASE_VERSION"]
	}
	return "another MPI"
}

// said returns what a compiler has said as an error, nil if nothing.
func said(message string) error {
	if message = strings.TrimSpace(message); message == "" {
		return nil
	}
	return errors.New(message)
}

func preprocess(ctx context.Context, mpicc string, flags ...string) (string, error) {
	command := group.Command(ctx, mpicc, append(flags, "-x", "c", "-")...)
	command.Stdin = strings.NewReader("#include <mpi.h>\n")
	var message strings.Builder
	command.Stderr = &message
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("header: %s: %w", command, errors.Join(cmp.Or(ctx.Err(), err), said(message.String())))
	}
	return string(output), nil
}
