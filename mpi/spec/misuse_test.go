package spec_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	misuse.Walk{
		Package: "spec",
		Functions: []any{
			spec.Base, spec.ClassOf, spec.ID, spec.IsExclusiveLock, spec.Lookup, spec.Placeholders,
			spec.SizeParam, spec.SwitchesRecording,
			spec.Constants, spec.Functions, spec.OutcomeOf, spec.RoleOf, spec.Keep,
		},
		Values: []any{spec.Amount{}, spec.Local, spec.ByValue, spec.Succeeded, spec.Waits, spec.ErrorCode,
			&spec.Transfer{}, &spec.Role{}, &spec.Constants()[0], &spec.Functions()[0]},
	}.Run(t)
}
