package house

import "testing"

// inRoot runs the test in the root of the repository. (Before tests run, go test would not know of
// it, and keep results of files that have changed.)
func inRoot(t *testing.T) {
	t.Helper()
	t.Chdir("../../..")
}
