package report

import (
	"context"
	"io"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/rankenc"
)

// Options configures [Write]. The zero Options is the default configuration.
type Options struct {
	// Name is what the trace is called on the page, such as the name of its file.
	// The empty name means "trace".
	Name string

	// Bytes is the size of the file of the trace. Zero means that the page does not
	// tell it.
	Bytes int64

	// Ranks are those of the timeline, at most 256. The empty set means some that are
	// typical of all.
	Ranks rankenc.Set

	// Step, unless it is nil, is called with what is done next.
	Step func(what string)
}

// Write writes a page about a trace.
func Write(ctx context.Context, w io.Writer, trace *reprise.Trace, o Options) error {
	if o.Name == "" {
		o.Name = "trace"
	}
	if o.Step == nil {
		o.Step = func(string) {}
	}
	p, err := collect(ctx, trace, o)
	if err != nil {
		return err
	}
	return p.write(w)
}

// collect puts together what the page is about.
func collect(ctx context.Context, trace *reprise.Trace, o Options) (*page, error) {
	p := &page{Title: printable(o.Name)}
	for _, part := range []struct {
		what string
		add  func(context.Context, *reprise.Trace, Options) error
	}{
		{"functions", p.addFunctions},
		{"timeline", p.addTimeline},
		{"messages", p.addCommunication},
		{"imbalance", p.addImbalance},
		{"loops", p.addLoops},
	} {
		o.Step(part.what)
		if err := part.add(ctx, trace, o); err != nil {
			return nil, err
		}
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
	}
	p.summarize(trace, o)
	return p, nil
}
