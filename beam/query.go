package beam

import (
	"bytes"
	"context"
	"encoding/json"
	"math"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

func init() {
	register.Combiner3[parts, File, []byte](&CombineProfile{})
	register.Combiner3[parts, File, []byte](&CombineTraffic{})
}

// Profile returns the profile of a collection of [File], as a collection of one [query.Profile] in JSON, a
// []byte.
func Profile(s beam.Scope, files beam.PCollection) beam.PCollection {
	return beam.Combine(s.Scope("reprise.Profile"), &CombineProfile{}, files)
}

// Traffic returns what goes between the ranks of a collection of [File], as a collection of one
// [query.Traffic] in JSON, a []byte.
func Traffic(s beam.Scope, files beam.PCollection) beam.PCollection {
	return beam.Combine(s.Scope("reprise.Traffic"), &CombineTraffic{}, files)
}

// CombineProfile is a CombineFn from [File] to a [query.Profile] in JSON. It adds up what ranks have in
// common, as [Combine] does, so that each shape is counted once.
type CombineProfile struct{ Combine }

// ExtractOutput returns the profile.
func (c *CombineProfile) ExtractOutput(a parts) ([]byte, error) {
	tr, err := c.trace(a)
	if err != nil {
		return nil, err
	}
	profile, err := query.OpenProfile(context.Background(), tr, query.Options{})
	if err != nil {
		return nil, err
	}
	return json.Marshal(profile)
}

// CombineTraffic is a CombineFn from [File] to a [query.Traffic] in JSON.
type CombineTraffic struct{ Combine }

// ExtractOutput returns the traffic. More than 8 million pairs of ranks with traffic that is not uniform are
// an error.
func (c *CombineTraffic) ExtractOutput(a parts) ([]byte, error) {
	tr, err := c.trace(a)
	if err != nil {
		return nil, err
	}
	model, err := semantics.Open(context.Background(), tr)
	if err != nil {
		return nil, err
	}
	messages, err := query.OpenMessages(context.Background(), model, 0, query.Options{})
	if err != nil {
		return nil, err
	}
	return json.Marshal(messages.Traffic)
}

// trace returns the trace of parts.
func (c *Combine) trace(a parts) (*trace.Trace, error) {
	file, err := c.ExtractOutput(a)
	if err != nil {
		return nil, err
	}
	// as it was made here
	return trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{Memory: math.MaxInt64})
}
