// Package e2e keeps tests that run other programs (compilers, MPI, simulators, browsers) out of
// the default tier: they run with -tags e2e. It is apart from package tier, so that tests without
// other programs are the same with and without the tag, and their results are cached.
package e2e

import (
	"fmt"
	"os"
	"testing"
)

// Skipped is the environment variable that names a file for tests that are skipped: a line for each has
// its directory, a tab and its name, so that these can be run, and not once more what was not skipped.
const Skipped = "REPRISE_SKIPPED_TESTS"

// Programs skips a test that runs other programs, unless the tag says that they are to run.
func Programs(t testing.TB) {
	t.Helper()
	if Enabled {
		return
	}
	if path := os.Getenv(Skipped); path != "" {
		if err := add(path, t.Name()); err != nil {
			t.Fatal(err)
		}
	}
	t.Skip("runs other programs: -tags e2e")
}

// directory is that of the package; a test may work in another.
var directory, _ = os.Getwd()

// add adds a test to a file, to which others are adding as well.
func add(path, name string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s\t%s\n", directory, name) // in one write
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
