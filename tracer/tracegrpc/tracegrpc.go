// Package tracegrpc records remote procedure calls of gRPC, on either side.
//
//	conn, err := grpc.NewClient(target,
//		grpc.WithUnaryInterceptor(tracegrpc.UnaryClient(process)),
//		grpc.WithStreamInterceptor(tracegrpc.StreamClient(process)))
//
//	server := grpc.NewServer(
//		grpc.UnaryInterceptor(tracegrpc.UnaryServer(process)),
//		grpc.StreamInterceptor(tracegrpc.StreamServer(process)))
//
// A unary call is a call of grpc.request or grpc.serve: its method and the code of its
// status. A stream is a call of grpc.stream or grpc.serve_stream from its beginning to its
// end, and has the numbers of messages that this side sent and received, too. Calls that
// are under way at once are of different threads.
//
// The package is a module of its own.
package tracegrpc

import (
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/tracer"
)

var (
	request = tracer.Func2[string, string]("grpc.request", "method", "out code")
	serve   = tracer.Func2[string, string]("grpc.serve", "method", "out code")
	stream  = tracer.Func4[string, int64, int64, string]("grpc.stream", "method", "out sent",
		"out received", "out code")
	serveStream = tracer.Func4[string, int64, int64, string]("grpc.serve_stream", "method", "out sent",
		"out received", "out code")
)

// UnaryClient returns an interceptor that records the unary calls of a client.
func UnaryClient(p *tracer.Process) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, in, out any, c *grpc.ClientConn, call grpc.UnaryInvoker, o ...grpc.CallOption) error {
		need.That(call != nil, "tracegrpc: no invoker")
		thread := p.Thread()
		defer thread.Release()
		begun := thread.Begin()
		err := call(ctx, method, in, out, c, o...)
		request.End(thread, begun, method, status.Code(err).String())
		return err
	}
}

// UnaryServer returns an interceptor that records the unary calls that a server answers.
func UnaryServer(p *tracer.Process) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, in any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (out any,
		err error) {
		need.That(info != nil && handle != nil, "tracegrpc: no information on the call, or no handler")
		thread := p.Thread()
		defer thread.Release()
		begun := thread.Begin()
		code := "Unknown" // if handle panics
		defer func() { serve.End(thread, begun, info.FullMethod, code) }()
		out, err = handle(ctx, in)
		code = status.Code(err).String()
		return out, err
	}
}

// StreamServer returns an interceptor that records the streams that a server answers.
func StreamServer(p *tracer.Process) grpc.StreamServerInterceptor {
	return func(service any, s grpc.ServerStream, info *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		need.That(info != nil && handle != nil, "tracegrpc: no information on the stream, or no handler")
		thread := p.Thread()
		defer thread.Release()
		begun := thread.Begin()
		counted := &serverStream{ServerStream: s}
		code := "Unknown" // if handle panics
		defer func() {
			serveStream.End(thread, begun, info.FullMethod, counted.sent.Load(), counted.received.Load(), code)
		}()
		err := handle(service, counted)
		code = status.Code(err).String()
		return err
	}
}

// A serverStream counts messages.
type serverStream struct {
	grpc.ServerStream
	sent, received atomic.Int64
}

func (s *serverStream) SendMsg(m any) error {
	err := s.ServerStream.SendMsg(m)
	if err == nil {
		s.sent.Add(1)
	}
	return err
}

func (s *serverStream) RecvMsg(m any) error {
	err := s.ServerStream.RecvMsg(m)
	if err == nil {
		s.received.Add(1)
	}
	return err
}

// StreamClient returns an interceptor that records the streams of a client. A stream ends
// when a method of it returns the status, with the context of the caller, or with the
// connection, as grpc asks of every stream that is not to leak. Until then it holds a
// thread. A stream that is open when the process is closed is left out.
func StreamClient(p *tracer.Process) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, c *grpc.ClientConn, method string, open grpc.Streamer, o ...grpc.CallOption) (grpc.ClientStream, error) {
		need.That(desc != nil && open != nil, "tracegrpc: no description of the stream, or no streamer")
		s := &clientStream{thread: p.Thread(), method: method, single: !desc.ServerStreams}
		s.begun = s.thread.Begin()
		// Not by the context of the stream: to ask for it turns retries off, and it ends
		// before RecvMsg returns. Any other status is left to RecvMsg, as an interceptor may
		// open another stream in place of one that failed.
		finished := grpc.OnFinish(func(err error) {
			if status.Code(err) == codes.Canceled || err != nil && ctx.Err() != nil {
				s.end(err)
			}
		})
		var err error
		if s.ClientStream, err = open(ctx, desc, c, method, append(slices.Clip(o), finished)...); err != nil {
			s.end(err)
			return nil, err
		}
		return s, nil
	}
}

// A clientStream counts messages, and tells when it ends.
type clientStream struct {
	grpc.ClientStream
	thread         *tracer.Thread
	begun          tracer.Moment
	method         string
	single         bool // the server sends one message, with the status
	sent, received atomic.Int64
	once           sync.Once
}

// end records the stream, once. Its error is nil or io.EOF if all went well.
func (s *clientStream) end(err error) {
	s.once.Do(func() {
		if err == io.EOF {
			err = nil
		}
		if _, ok := status.FromError(err); !ok {
			err = status.FromContextError(err).Err()
		}
		stream.End(s.thread, s.begun, s.method, s.sent.Load(), s.received.Load(), status.Code(err).String())
		s.thread.Release()
	})
}

func (s *clientStream) Header() (metadata.MD, error) {
	head, err := s.ClientStream.Header()
	if err != nil && err != io.EOF {
		s.end(err)
	}
	return head, err
}

func (s *clientStream) SendMsg(m any) error {
	err := s.ClientStream.SendMsg(m)
	if err == nil {
		s.sent.Add(1)
	} else if err != io.EOF { // which says that RecvMsg has the status
		s.end(err)
	}
	return err
}

func (s *clientStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err == nil {
		s.received.Add(1)
	}
	if err != nil || s.single {
		s.end(err)
	}
	return err
}
