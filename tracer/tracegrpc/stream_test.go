package tracegrpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/reprise-trace/reprise/internal/test/tracertest"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/tracegrpc"
)

// A fake is a stream whose methods return given errors. Its context ends as soon as
// anything returns one, as that of a real stream does, and must not be asked for.
type fake struct {
	grpc.ClientStream
	t                      *testing.T
	header, send, received error
}

func (f fake) Header() (metadata.MD, error) { return nil, f.header }
func (f fake) SendMsg(any) error            { return f.send }
func (f fake) RecvMsg(any) error            { return f.received }
func (f fake) Context() context.Context {
	f.t.Error("the context of the stream turns retries off")
	ctx, cancel := context.WithCancel(f.t.Context())
	cancel()
	return ctx
}

// TestStreamEnds checks what ends a stream of a client, and with what code.
func TestStreamEnds(t *testing.T) {
	p := tracertest.Open(t, tracer.Config{})
	gone := status.Error(codes.Unavailable, "gone")
	var want []string
	for _, tt := range []struct {
		name   string
		stream fake
		use    func(s grpc.ClientStream, finish func(error), cancel func())
		want   string
	}{
		{"end", fake{received: io.EOF}, func(s grpc.ClientStream, finish func(error), _ func()) {
			s.SendMsg(nil)
			finish(nil) // before RecvMsg returns
			s.RecvMsg(nil)
		}, `sent=1, received=0, code="OK"`},
		{"send", fake{send: gone}, func(s grpc.ClientStream, _ func(error), _ func()) {
			s.SendMsg(nil)
		}, `sent=0, received=0, code="Unavailable"`},
		{"sendEnd", fake{send: io.EOF, received: gone}, func(s grpc.ClientStream, _ func(error), _ func()) {
			s.SendMsg(nil) // of which only RecvMsg knows why
			s.RecvMsg(nil)
		}, `sent=0, received=0, code="Unavailable"`},
		{"header", fake{header: gone}, func(s grpc.ClientStream, _ func(error), _ func()) {
			s.Header()
		}, `sent=0, received=0, code="Unavailable"`},
		{"closed", fake{}, func(s grpc.ClientStream, finish func(error), _ func()) {
			s.RecvMsg(nil)
			finish(status.Error(codes.Canceled, "closing"))
		}, `sent=0, received=1, code="Canceled"`},
		{"timeout", fake{}, func(s grpc.ClientStream, finish func(error), cancel func()) {
			cancel()
			finish(status.FromContextError(context.DeadlineExceeded).Err())
		}, `sent=0, received=0, code="DeadlineExceeded"`},
		{"again", fake{received: io.EOF}, func(s grpc.ClientStream, finish func(error), _ func()) {
			finish(gone) // an interceptor opens another stream in place of this one
			s.SendMsg(nil)
			s.RecvMsg(nil)
		}, `sent=1, received=0, code="OK"`},
	} {
		tt.stream.t = t
		ctx, cancel := context.WithCancelCause(t.Context())
		finish := func(error) {}
		s, err := tracegrpc.StreamClient(p.Process)(ctx, &grpc.StreamDesc{ServerStreams: true}, nil, tt.name,
			func(_ context.Context, _ *grpc.StreamDesc, _ *grpc.ClientConn, _ string,
				o ...grpc.CallOption) (grpc.ClientStream, error) {
				for _, o := range o {
					if o, ok := o.(grpc.OnFinishCallOption); ok {
						finish = o.OnFinish
					}
				}
				return tt.stream, nil
			})
		if err != nil {
			t.Fatal(err)
		}
		tt.use(s, func(err error) { finish(err) }, func() { cancel(errors.New("a cause")) })
		cancel(nil)
		want = append(want, fmt.Sprintf("grpc.stream(method=%q, %s)", tt.name, tt.want))
	}
	p.Check(t, want...)
}

// TestStreamsAbandoned opens streams that nobody reads again. They end with the context of
// the caller or with the connection, and one that has not ended is no obstacle to Close.
func TestStreamsAbandoned(t *testing.T) {
	var readings atomic.Int64
	client := tracertest.Open(t, tracer.Config{Clock: func() int64 { return readings.Add(1) }})
	conn, s, err := connect(client.Process, nil)
	if err != nil {
		t.Fatal(err)
	}
	watch := func(ctx context.Context) {
		w, err := healthpb.NewHealthClient(conn).Watch(ctx, &healthpb.HealthCheckRequest{})
		if err == nil {
			_, err = w.Recv()
		}
		if err != nil {
			t.Error(err)
		}
	}
	// ended waits until the clock was read as often as there were beginnings and ends.
	ended := func(n int64) {
		for range 1000 {
			if readings.Load() >= n {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("the clock was read %d times, not %d", readings.Load(), n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	watch(ctx)
	cancel()
	ended(2)
	watch(context.Background())
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	ended(4)
	s.Stop()
	conn, s, err = connect(client.Process, nil)
	if err != nil {
		t.Fatal(err)
	}
	watch(context.Background())
	const canceled = `grpc.stream(method="/grpc.health.v1.Health/Watch", sent=1, received=1, code="Canceled")`
	client.Check(t, canceled, canceled)
	conn.Close()
	s.Stop()
}
