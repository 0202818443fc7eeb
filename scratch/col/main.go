package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/mpi/collect"
)

func main() {
	cc := flag.String("cc", "mpicc.openmpi", "")
	out := flag.String("o", "/tmp/out.rpz", "")
	untimed := flag.Bool("untimed", false, "")
	keep := flag.String("keep", "", "")
	prof := flag.String("prof", "", "")
	only := flag.String("only", "", "")
	flag.Parse()
	dir := *only
	if dir == "" {
		lib, err := mpi.BuildInterposer(context.Background(), *cc, "/tmp/rcache")
		check(err)
		dir = *keep
		if dir == "" {
			dir, _ = os.MkdirTemp("/dev/shm", "spool")
			defer os.RemoveAll(dir)
		} else {
			os.MkdirAll(dir, 0o777)
			for _, f := range must(filepath.Glob(dir + "/*")) {
				os.Remove(f)
			}
		}
		c := exec.Command(flag.Arg(0), flag.Args()[1:]...)
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		c.Env = append(os.Environ(), "LD_PRELOAD="+lib.Path, "REPRISE_SPOOL="+dir)
		t := time.Now()
		fmt.Fprintln(os.Stderr, "run:", c.Run(), time.Since(t))
	}
	if *prof != "" {
		f, _ := os.Create(*prof)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	t := time.Now()
	col, err := collect.New(dir, collect.Options{Untimed: *untimed, Keep: *keep != "" || *only != ""})
	check(err)
	n, err := col.Poll()
	check(err)
	d := time.Since(t)
	fmt.Fprintln(os.Stderr, n, "calls", d, float64(n)/d.Seconds()/1e6, "M/s")
	a, s, err := col.Finish(context.Background())
	check(err)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Fprintf(os.Stderr, "%+v sys %d MB\n", s, m.Sys>>20)
	f, err := os.Create(*out)
	check(err)
	check(a.Write(f))
	i, _ := f.Stat()
	fmt.Fprintln(os.Stderr, i.Size(), "bytes", time.Since(t))
}
func must[T any](v T, err error) T { check(err); return v }
func check(err error) {
	if err != nil {
		panic(err)
	}
}
