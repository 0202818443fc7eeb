package tracegrpc_test

import (
	"testing"

	"google.golang.org/grpc"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/tracegrpc"
)

// TestMisuse calls all of the package as it must not be called, and the interceptors that it returns.
func TestMisuse(t *testing.T) {
	p := new(tracer.Process)
	misuse.Walk{
		Package: "tracegrpc",
		Functions: []any{
			tracegrpc.UnaryClient, tracegrpc.UnaryServer, tracegrpc.StreamClient, tracegrpc.StreamServer,
			tracegrpc.UnaryClient(p), tracegrpc.UnaryServer(p), tracegrpc.StreamClient(p), tracegrpc.StreamServer(p),
		},
		Values: []any{p, &grpc.UnaryServerInfo{}, &grpc.StreamServerInfo{}, &grpc.StreamDesc{}},
		Left:   map[string]string{"clientStream": "here it is of a streamer that makes none, and what is called is that stream's"},
	}.Run(t)
}
