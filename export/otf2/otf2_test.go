package otf2

import (
	"testing"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
)

// TestRecords checks that what is written of traces of all kinds is in order and nested, and has all calls.
func TestRecords(t *testing.T) {
	for _, c := range exporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			records, _ := collect(t, c.Trace, c.Options)
			read(t, records).checkCalls(c.Trace, c.Options)
		})
	}
}

// TestMessages checks messages and collective operations.
func TestMessages(t *testing.T) {
	stencil := testtrace.Stencil(t, "exact")
	records, said := collect(t, stencil, export.Options{})
	r := read(t, records)
	r.checkMessages(stencil, true)
	r.checkCollectives()
	if said.Omitted > 0 || said.Unsized > 0 || said.Messages == 0 || r.kinds["MpiCollectiveEnd"] == 0 {
		t.Errorf("%+v, %v", said, r.kinds)
	}
	actions := testtrace.TI(t, exporttest.Lines)
	records, _ = collect(t, actions, export.Options{})
	r = read(t, records)
	r.checkMessages(actions, true)
	if r.kinds["MpiSend"] != 1 || r.kinds["MpiCollectiveEnd"] != 4 {
		t.Errorf("of actions: %v", r.kinds)
	}
}
