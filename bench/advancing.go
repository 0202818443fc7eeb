package bench

import (
	_ "embed" // for the program
	"fmt"
	"io"
	"os"

	"github.com/reprise-trace/reprise/mpi/collect"
)

//go:embed recording/advancing.c
var advancingSource []byte

// advancing reports the size of traces of loops whose arguments advance.
func (m *implementation) advancing(w io.Writer, directory string) error {
	fmt.Fprintf(w, "\nadvancing.c has loops in whose calls addresses, counts, tags and offsets advance, on 4 ranks. No times and no call sites.\n\n")
	heads(w, "pattern", "loops", "calls", "trace, bytes")
	program, err := m.compile(directory, "advancing", advancingSource)
	if err != nil {
		return err
	}
	for _, pattern := range []string{"sweep", "ring", "flight", "tags", "panels", "records"} {
		for _, loops := range [][2]string{{"5", "500"}, {"20", "500"}, {"20", "2000"}} {
			spool, err := os.MkdirTemp(directory, "spool-")
			if err != nil {
				return err
			}
			if _, err := m.withoutSites().run(4, spool, directory, program, pattern, loops[0], loops[1]); err != nil {
				return err
			}
			whole, s, err := collectTrace(spool, collect.Options{Untimed: true})
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "| %s | %s × %s | %d | %d |\n", pattern, loops[0], loops[1], s.Calls, whole.size)
		}
	}
	return nil
}
