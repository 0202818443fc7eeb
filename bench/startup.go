package bench

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// reportFixed reports what the whole command takes for a program that makes one call: what recording costs a run,
// however short.
func reportFixed(w io.Writer, installed []*implementation) error {
	c, err := newCommand()
	if err != nil {
		return err
	}
	defer c.remove()
	fmt.Fprint(w, "\nA program that makes one call: processor time of the whole command in milliseconds, the ",
		"launcher included, without and with `reprise record` in turn.\n\n")
	heads(w, "MPI", "ranks", "not recorded", "recorded", "added", "added, a rank")
	for _, m := range installed {
		for _, ranks := range []int{1, 4, 8} {
			var plain, added []float64
			for range rounds {
				without, err := m.launched(nil, ranks)
				if err != nil {
					return err
				}
				record := []string{c.path("reprise"), "record", "-q", "-o", c.path("run.rpz"), "--"}
				with, err := m.launched(record, ranks)
				if err != nil {
					return err
				}
				plain, added = append(plain, without), append(added, with-without)
			}
			fmt.Fprintf(w, "| %s | %d | %.0f | %.0f | %.0f | %.0f |\n", m.name, ranks, median(plain),
				median(plain)+median(added), median(added), median(added)/float64(ranks))
		}
	}
	return nil
}

// launched returns the processor time, in milliseconds, of a program that makes one call on some ranks, behind
// another command.
func (m *implementation) launched(before []string, ranks int) (float64, error) {
	command := slices.Concat(before, m.mpirun, []string{"-n", strconv.Itoa(ranks), m.program, "rank", "1"})
	c := exec.Command(command[0], command[1:]...)
	c.Dir = filepath.Dir(m.program)
	c.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	if output, err := c.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", command[0], err, output)
	}
	took := c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return float64(took) / float64(time.Millisecond), nil
}
