package bench

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
)

// reportClusters reports what it takes to merge the part files of a stencil of 2²⁰ ranks, with reprise merge
// alone and with processes of MPI, and what each level of a tree takes.
func reportClusters(w io.Writer) error {
	c, err := newCommand()
	if err != nil {
		return err
	}
	defer c.remove()
	const side, ofFile = 1024, 256
	stencil := programs.Stencil2D(side, side, 1e9)
	heads(w, "times", "part files, MB", "processes", "radix", "s", "MB, the largest process", "MB, all processes")
	kinds := []struct {
		times   string
		program programs.Program
	}{{"none", stencil}, {"statistics", stencil.Timed()}}
	for _, k := range kinds {
		parts := c.path("parts." + k.times)
		if err := writeParts(k.program, ofFile, parts); err != nil {
			return err
		}
		if err := reportMerging(w, c, k.times, parts); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	heads(w, "times", "ranks, after the level", "bytes of a part", "write, ms", "read, ms", "merge, ms")
	for _, k := range kinds {
		if err := reportLevels(w, k.times, k.program, ofFile); err != nil {
			return err
		}
	}
	return nil
}

// writeParts writes part files of so many ranks each to a new directory.
func writeParts(p programs.Program, ofFile int, directory string) error {
	if err := os.Mkdir(directory, 0o777); err != nil {
		return err
	}
	for first := 0; first < p.Ranks; first += ofFile {
		a, err := accumulate(p, first, first+ofFile)
		if err != nil {
			return err
		}
		var file bytes.Buffer
		if err := a.WritePart(&file); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(directory, fmt.Sprintf("rank%07d.part.rpz", first)),
			file.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// accumulate returns the parts of ranks.
func accumulate(p programs.Program, first, end int) (*merge.Accumulator, error) {
	a := new(merge.Accumulator)
	if err := a.Describe(p.Run()); err != nil {
		return nil, err
	}
	for rank := first; rank < end; rank++ {
		if err := a.Add(p.Part(rank)); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// reportMerging reports what merging a directory takes, with one process and with those of a tree.
func reportMerging(w io.Writer, c *command, times, parts string) error {
	size, err := sizeOf(parts)
	if err != nil {
		return err
	}
	launcher := ""
	for _, name := range []string{"mpirun.openmpi", "mpirun"} {
		if _, err := exec.LookPath(name); err == nil {
			launcher = cmp.Or(launcher, name)
		}
	}
	for _, tree := range []struct{ processes, radix int }{{1, 0}, {64, 2}, {64, 4}, {64, 8}} {
		args := []string{"merge", parts, "-o", c.path("out.rpz")}
		radix := "–"
		if tree.radix > 0 {
			if launcher == "" {
				break
			}
			radix = strconv.Itoa(tree.radix)
			args = append(args, "--radix", radix, "--", launcher, "--oversubscribe", "-n", strconv.Itoa(tree.processes))
		}
		run := exec.Command(c.path("reprise"), args...)
		run.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
			"OMPI_MCA_mpi_yield_when_idle=1", "OMPI_MCA_pml=ob1")
		var said bytes.Buffer
		run.Stderr = &said
		begin := time.Now()
		largest, all, err := memoryOf(run, c.path("reprise"))
		if err != nil {
			return fmt.Errorf("%v: %w: %s", args, err, &said)
		}
		fmt.Fprintf(w, "| %s | %.1f | %d | %s | %.2f | %.0f | %.0f |\n", times, float64(size)/1e6,
			tree.processes, radix, time.Since(begin).Seconds(), float64(largest)/1e6, float64(all)/1e6)
	}
	return nil
}

// memoryOf runs a command, and returns the most memory that a process of a program had and that all of them
// had at one time, in bytes, without files that are mapped. It asks Linux for that again and again.
func memoryOf(cmd *exec.Cmd, program string) (largest, all int64, err error) {
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			return largest, all, err
		case <-time.After(20 * time.Millisecond):
		}
		processes, _ := filepath.Glob("/proc/[0-9]*/exe")
		sum := int64(0)
		for _, exe := range processes {
			if of, err := os.Readlink(exe); err != nil || of != program {
				continue
			}
			status, _ := os.ReadFile(filepath.Join(filepath.Dir(exe), "status"))
			if _, value, ok := strings.Cut(string(status), "RssAnon:"); ok {
				var kilobytes int64
				fmt.Sscan(value, &kilobytes)
				largest, sum = max(largest, kilobytes<<10), sum+(kilobytes<<10)
			}
		}
		all = max(all, sum)
	}
}

// reportLevels reports what a level of a binary tree takes: to write what half of the ranks made, to read it
// and to merge it.
func reportLevels(w io.Writer, times string, p programs.Program, least int) error {
	for ranks := least; 2*ranks <= p.Ranks; ranks *= 4 {
		var halves [2]*merge.Accumulator
		for i := range halves {
			var err error
			if halves[i], err = accumulate(p, i*ranks, (i+1)*ranks); err != nil {
				return err
			}
		}
		begin := time.Now()
		var part bytes.Buffer
		if err := halves[1].WritePart(&part); err != nil {
			return err
		}
		written := time.Now()
		file, err := format.NewReader(bytes.NewReader(part.Bytes()), int64(part.Len()), format.Options{})
		if err != nil {
			return err
		}
		other, err := merge.ReadPart(file)
		if err != nil {
			return err
		}
		read := time.Now()
		if err := halves[0].Merge(other); err != nil {
			return err
		}
		ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
		fmt.Fprintf(w, "| %s | %d | %d | %.2f | %.2f | %.2f |\n", times, 2*ranks, part.Len(),
			ms(written.Sub(begin)), ms(read.Sub(written)), ms(time.Since(read)))
	}
	return nil
}
