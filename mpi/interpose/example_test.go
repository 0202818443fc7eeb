package interpose_test

import (
	"context"
	"log"
	"os"
	"os/exec"

	"github.com/reprise-trace/reprise/mpi/interpose"
)

// Records a program: afterwards the spool has the raw records of its processes, of which
// package mpi/collect makes a trace.
func ExampleBuild() {
	ctx, command := context.Background(), []string{"mpirun", "-n", "4", "./app"}
	inspected, err := interpose.Inspect(ctx, command)
	if err != nil {
		log.Fatal(err)
	}
	mpicc, err := inspected.Compiler(ctx, "cache")
	if err != nil {
		log.Fatal(err)
	}
	library, err := interpose.Build(ctx, mpicc, "cache", nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.Mkdir("spool", 0o700); err != nil {
		log.Fatal(err)
	}
	app := exec.CommandContext(ctx, command[0], command[1:]...)
	app.Env = append(os.Environ(), "LD_PRELOAD="+library.Path, "REPRISE_SPOOL=spool")
	if err := app.Run(); err != nil {
		log.Fatal(err)
	}
}
