package tracegrpc_test

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"

	"github.com/reprise-trace/reprise/internal/test/tracertest"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/tracegrpc"
)

// connect returns a client of a new server, both of which record their calls.
func connect(client, server *tracer.Process) (*grpc.ClientConn, *grpc.Server, error) {
	listener := bufconn.Listen(1 << 16) // instead of a socket
	s := grpc.NewServer(grpc.UnaryInterceptor(tracegrpc.UnaryServer(server)),
		grpc.StreamInterceptor(tracegrpc.StreamServer(server)))
	healthpb.RegisterHealthServer(s, health.NewServer())
	go s.Serve(listener)
	conn, err := grpc.NewClient("passthrough:x",
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return listener.Dial() }),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(tracegrpc.UnaryClient(client)),
		grpc.WithStreamInterceptor(tracegrpc.StreamClient(client)))
	return conn, s, err
}

// TestInterceptors records a call that succeeds, one that fails, and a stream that the
// client gives up, on both sides.
func TestInterceptors(t *testing.T) {
	client, server := tracertest.Open(t, tracer.Config{}), tracertest.Open(t, tracer.Config{})
	conn, s, err := connect(client.Process, server.Process)
	if err != nil {
		t.Fatal(err)
	}
	api := healthpb.NewHealthClient(conn)
	if _, err := api.Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.Check(t.Context(), &healthpb.HealthCheckRequest{Service: "none"}); err == nil {
		t.Error("a service that is not there")
	}
	ctx, cancel := context.WithCancel(t.Context())
	watch, err := api.Watch(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := watch.Recv(); err == nil {
		t.Error("the stream goes on")
	}
	conn.Close()
	s.GracefulStop()
	const service = "/grpc.health.v1.Health/"
	client.Check(t,
		`grpc.request(method="`+service+`Check", code="OK")`,
		`grpc.request(method="`+service+`Check", code="NotFound")`,
		`grpc.stream(method="`+service+`Watch", sent=1, received=1, code="Canceled")`)
	server.Check(t,
		`grpc.serve(method="`+service+`Check", code="OK")`,
		`grpc.serve(method="`+service+`Check", code="NotFound")`,
		`grpc.serve_stream(method="`+service+`Watch", sent=1, received=1, code="Canceled")`)
}
