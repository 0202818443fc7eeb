package collect

import (
	"slices"
	"testing"
)

// TestKnownFunctions compares what the collector and Compare know of each function of
// the table: both work it out for themselves.
func TestKnownFunctions(t *testing.T) {
	roles := map[operation][]role{
		number: {plain, displacing}, float: {plain}, rank: {plain}, tag: {plain}, object: {used}, created: {made},
		shared: {returned}, freed: {freeing}, request: {waitedFor}, began: {startedHere}, address: {memory},
		status: {outcomes}, code: {errorCode}, text: {plain},
	}
	for i := range plans {
		f, k := &plans[i], &knownFunctions[i]
		if f.persistent != k.persistent() || f.takesRequests != (k.requests >= 0) {
			t.Errorf("%s: persistent %v, takes requests %v", f.Name, f.persistent, f.takesRequests)
		}
		if f.takesRequests && f.looks != looking(k) {
			t.Errorf("%s: looks %v", f.Name, f.looks)
		}
		for j := range f.params {
			if q := &f.params[j]; !slices.Contains(roles[q.operation], k.roles[j]) || q.distances != (k.roles[j] == displacing) {
				t.Errorf("%s: %s has operation %d and role %d", f.Name, q.Name, q.operation, k.roles[j])
			}
		}
	}
}
