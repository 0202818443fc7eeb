package programs

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/mpi/proxy"
)

// How a proxy replaces an earlier one: a list beside its files has their digests, and those that are as they
// were written are replaced. What somebody has changed, or has written, is kept.

// ProxyList is the name of the list. Its lines are those of sha256sum.
const ProxyList = ".reprise-proxy"

// maxProxyList is the most bytes of the list that are read.
const maxProxyList = 1 << 16

// digestOf returns the digest of a text.
func digestOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// digestOfFile returns the digest of what a file has.
func digestOfFile(ctx context.Context, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, &cli.Input{Ctx: ctx, R: f})
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// writeProgram writes files to a directory, as writeDirectory does. Those that are there already are
// replaced, all or none, if they are an earlier proxy that nobody has changed.
func writeProgram(cmd *cobra.Command, directory string, files []proxy.File) error {
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(directory)), 0o777); err != nil {
		return cli.FileError(directory, err)
	}
	var list strings.Builder
	for _, f := range files {
		fmt.Fprintf(&list, "%s  %s\n", digestOf(f.Text), f.Name)
	}
	files = append(slices.Clip(files), proxy.File{Name: ProxyList, Text: list.String()})
	return cli.WriteDirectory(cmd.Context(), directory, func(into string) error {
		if into == filepath.Clean(directory) { // which is there
			return replaceProgram(cmd, into, files)
		}
		for _, f := range files {
			path := filepath.Join(into, f.Name)
			if err := os.WriteFile(path, []byte(f.Text), 0o666); err != nil {
				return cli.FileError(path, err)
			}
		}
		return nil
	})
}

// replaceProgram writes files to a directory that is there.
func replaceProgram(cmd *cobra.Command, directory string, files []proxy.File) error {
	before, err := earlierProxy(directory)
	if err != nil {
		return err
	}
	var outputs []cli.OutputFile
	for _, f := range files {
		path := filepath.Join(directory, f.Name)
		if err := before.check(cmd.Context(), path); err != nil {
			return err
		}
		outputs = append(outputs, cli.OutputFile{Path: path, Write: func(w io.Writer) error {
			_, err := io.WriteString(w, f.Text)
			return err
		}})
	}
	if err := cmd.Context().Err(); err != nil {
		return err
	}
	if err := cli.WriteOutputs(cmd, outputs, nil); err != nil {
		return err
	}
	return before.removeBut(cmd.Context(), directory, files)
}

// A written is the digests of files of an earlier proxy, by name.
type written map[string]string

// earlierProxy returns what a directory has of an earlier proxy.
func earlierProxy(directory string) (written, error) {
	path := filepath.Join(directory, ProxyList)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (!info.Mode().IsRegular() || info.Size() > maxProxyList) {
		return nil, nil
	}
	if err != nil {
		return nil, cli.FileError(path, err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, cli.FileError(path, err)
	}
	before := written{ProxyList: digestOf(string(text))}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if digest, name, ok := strings.Cut(lines.Text(), "  "); ok {
			before[name] = digest
		}
	}
	return before, nil
}

// check returns an error if a file is there and is not as an earlier proxy was written.
func (w written) check(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cli.FileError(path, err)
	}
	digest := w[filepath.Base(path)]
	if digest == "" || !info.Mode().IsRegular() {
		return fmt.Errorf("%s: is there already: take a new directory, or remove it", path)
	}
	is, err := digestOfFile(ctx, path)
	if err != nil {
		return cli.FileError(path, err)
	}
	if is != digest {
		return fmt.Errorf("%s: was changed since proxy wrote it: take a new directory, or remove it", path)
	}
	return nil
}

// proxyHeaders are the files that not all proxies have.
var proxyHeaders = []string{"tables.h", "simgrid.h", "sessions.h"}

// removeBut removes the files of an earlier proxy, as it was written, that the new one does not have.
func (w written) removeBut(ctx context.Context, directory string, files []proxy.File) error {
	for _, name := range proxyHeaders {
		path := filepath.Join(directory, name)
		isNew := slices.ContainsFunc(files, func(f proxy.File) bool { return f.Name == name })
		if isNew || w[name] == "" || w.check(context.WithoutCancel(ctx), path) != nil {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cli.FileError(path, err)
		}
	}
	return nil
}
