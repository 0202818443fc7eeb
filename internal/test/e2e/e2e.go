// Package e2e keeps tests that run other programs (compilers, MPI, simulators, browsers) out of
// the default tier: they run with -tags e2e. It is apart from package tier, so that tests without
// other programs are the same with and without the tag, and their results are cached.
package e2e

import "testing"

// Programs skips a test that runs other programs, unless the tag says that they are to run.
func Programs(t testing.TB) {
	t.Helper()
	if !Enabled {
		t.Skip("runs other programs: -tags e2e")
	}
}
