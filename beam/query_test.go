package beam

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// TestQueries checks the answers of pipelines against those about the trace of all parts.
func TestQueries(t *testing.T) {
	for _, p := range []programs.Program{programs.Stencil2D(8, 8, 1000).Timed(), programs.RandomPartners(40, 20, 1)} {
		paths, file := writeParts(t, p, 3)
		container, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tr, err := trace.OpenContainer(container, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		profile, err := query.OpenProfile(t.Context(), tr, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		model, err := semantics.Open(t.Context(), tr)
		if err != nil {
			t.Fatal(err)
		}
		messages, err := query.OpenMessages(t.Context(), model, 0, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if profile.Calls == 0 || messages.Traffic.Messages == 0 {
			t.Fatalf("%s: nothing to compare", p.Name)
		}
		pipeline, s := beam.NewPipelineWithRoot()
		files := Read(s, paths)
		passert.Equals(s, Profile(s, files), marshal(t, profile))
		passert.Equals(s, Traffic(s, files), marshal(t, messages.Traffic))
		if err := ptest.Run(pipeline); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
