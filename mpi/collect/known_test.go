package collect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
)

// TestKnown checks that traces need not spell out functions as they are recorded if the program
// gives all arguments. New functions of MPI want lines at the end of internal/layout/functions.txt.
func TestKnown(t *testing.T) {
	for n := range plans {
		key := uint64(sited)
		for i := range plans[n].params {
			key |= uint64(given) << (stateBits * i)
		}
		var table cst.Table
		f := plans[n].declaration(key)
		table.Declare(f)
		if _, known := layout.AppendFunctions(nil, &table); !known {
			t.Errorf("%s is spelled out: add to internal/layout/functions.txt this line, and one with handle(constant) for its statuses if it has any:\n%s", f.Name, lineOf(f))
		}
	}
}

// lineOf returns the line of functions.txt for a function.
func lineOf(f cst.Function) string {
	var params []string
	for _, p := range f.Params {
		params = append(params, p.Name+" "+strings.TrimPrefix(fmt.Sprint(p.Direction, " "), "in ")+p.Type.String())
	}
	return f.Name + "(" + strings.Join(params, ", ") + ")"
}
