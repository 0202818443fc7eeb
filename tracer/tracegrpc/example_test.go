package tracegrpc_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/tracegrpc"
)

// A client asks a server for its health, over and over. Here both are in one process; in
// two, each has a rank and a part file of its own.
func Example() {
	dir, err := os.MkdirTemp("", "tracegrpc")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "program.rpz")
	process, err := tracer.Open(tracer.Config{Path: path})
	if err != nil {
		log.Fatal(err)
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(
		grpc.UnaryInterceptor(tracegrpc.UnaryServer(process)),
		grpc.StreamInterceptor(tracegrpc.StreamServer(process)))
	healthpb.RegisterHealthServer(server, health.NewServer())
	go server.Serve(listener)
	conn, err := grpc.NewClient(listener.Addr().String(),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(tracegrpc.UnaryClient(process)),
		grpc.WithStreamInterceptor(tracegrpc.StreamClient(process)))
	if err != nil {
		log.Fatal(err)
	}
	for range 1000 {
		if _, err := healthpb.NewHealthClient(conn).Check(context.Background(),
			&healthpb.HealthCheckRequest{}); err != nil {
			log.Fatal(err)
		}
	}
	err = conn.Close()
	server.GracefulStop()
	if err := errors.Join(err, process.Close()); err != nil {
		log.Fatal(err)
	}

	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	rank, err := tr.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	for terminal, n := range rank.Occurrences() {
		fmt.Println(n, rank.Call(terminal))
	}
	// Output:
	// 1000 grpc.request(method="/grpc.health.v1.Health/Check", code="OK")
	// 1000 grpc.serve(thread=1, method="/grpc.health.v1.Health/Check", code="OK")
}
