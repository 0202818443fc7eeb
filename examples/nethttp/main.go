// Command nethttp records the HTTP requests of several processes, a server and
// its clients, in one trace: each process is a rank.
//
//	go run ./examples/nethttp -o web.rpz && reprise info web.rpz
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/tracehttp"
)

// processes is how many there are: a server, which is rank 0, and clients.
const processes = 4

func main() {
	log.SetFlags(0)
	output := flag.String("o", "web.rpz", "the trace to write")
	rank := flag.Int("rank", -1, "what this process is: for processes that the first one starts")
	part := flag.String("part", "", "its part file")
	server := flag.String("server", "", "the address of the server")
	flag.Parse()
	var err error
	switch {
	case *rank < 0:
		err = run(*output)
	case *rank == 0:
		err = record(0, *part, serve)
	default:
		err = record(*rank, *part, func(p *tracer.Process) error { return request(p, *server) })
	}
	if err != nil {
		log.Fatal(err)
	}
}

// record lets a process do its work, and writes its part file.
func record(rank int, path string, work func(*tracer.Process) error) error {
	p, err := tracer.Open(tracer.Config{Rank: rank, Ranks: processes, Source: "nethttp", Path: path,
		Checkpoint: time.Second})
	if err != nil {
		return err
	}
	return errors.Join(work(p), p.Close())
}

// serve answers requests until the end of standard input.
func serve(p *tracer.Process) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{n}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "item %s\n", r.PathValue("n"))
	})
	s := http.Server{Handler: tracehttp.Handler(mux, p)}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		s.Shutdown(context.Background())
	}()
	fmt.Println(l.Addr())
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// request asks the server for items, over and over.
func request(p *tracer.Process, server string) error {
	client := http.Client{Transport: tracehttp.Transport(http.DefaultTransport, p)}
	for i := range 300 {
		path := fmt.Sprintf("/items/%d", i%3)
		if i%100 == 99 {
			path = "/lost"
		}
		r, err := client.Get("http://" + server + path)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, r.Body)
		if err = errors.Join(err, r.Body.Close()); err != nil {
			return err
		}
	}
	return nil
}

// run starts all processes, waits for them, and merges what they recorded.
func run(output string) error {
	dir, err := os.MkdirTemp("", "nethttp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel() // of processes that are left after an error
	command := func(rank int, server string) *exec.Cmd {
		part := filepath.Join(dir, fmt.Sprintf("%d.rpz", rank))
		c := exec.CommandContext(ctx, os.Args[0], "-rank", fmt.Sprint(rank), "-part", part, "-server", server)
		c.Stderr = os.Stderr
		return c
	}
	server := command(0, "")
	stop, _ := server.StdinPipe()
	out, _ := server.StdoutPipe()
	if err := server.Start(); err != nil {
		return err
	}
	var address string
	if _, err := fmt.Fscan(out, &address); err != nil {
		return err
	}
	var clients []*exec.Cmd
	for rank := 1; rank < processes; rank++ {
		c := command(rank, address)
		if err := c.Start(); err != nil {
			return err
		}
		clients = append(clients, c)
	}
	for _, c := range clients {
		if err := c.Wait(); err != nil {
			return err
		}
	}
	stop.Close() // the end of the server's input
	if err := server.Wait(); err != nil {
		return err
	}
	return merge.Files(output, 0, dir)
}
