package show

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/report"
)

func NewView() *cobra.Command {
	q := cli.NewQuestion("view", nil, view, cli.OptRanks)
	q.Flags().Lookup("ranks").DefValue = "some"
	return q.Command
}

// view serves the report of a trace until it is interrupted.
func view(q *cli.Question) error {
	file, err := os.Stat(q.Path)
	if err != nil {
		return err
	}
	o := report.Options{Name: filepath.Base(q.Path), Bytes: file.Size(), Ranks: q.Ranks}
	if q.Flags().Changed("ranks") && o.Ranks == nil { // all: not those that the report would choose
		all := q.Trace.RankSet()
		o.Ranks = &all
	}
	bar := cli.NewCounter(q.Context(), q.ErrOrStderr(), "view", int64(q.Trace.RankSet().Len()), "ranks")
	o.Progress = func(_ string, ranks int) { bar.Show(uint64(ranks)) }
	v, err := report.OpenView(q.Context(), q.Trace, o)
	bar.Done()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	token := rand.Text()
	server := http.Server{Handler: guarded(listener.Addr().String(), token, v), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(q.Context(), func() { _ = server.Close() })
	defer stop()
	fmt.Fprintf(q.OutOrStdout(), "http://%s/%s/\n", listener.Addr(), token)
	fmt.Fprintln(q.ErrOrStderr(), "reprise: open this address in a browser of this machine; end with Ctrl-C")
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// guarded serves who knows the token and asks for this machine by its address, so that no page
// from elsewhere that a browser shows can ask.
func guarded(address, token string, h http.Handler) http.Handler {
	prefix := "/" + token
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, port, _ := net.SplitHostPort(address)
		path, ok := strings.CutPrefix(r.URL.Path, prefix+"/")
		given, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		known := subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
		if !ok || !known || r.Host != address && r.Host != "localhost:"+port {
			http.Error(w, "not found", http.StatusNotFound)
			return
		}
		inner := r.Clone(r.Context())
		inner.URL.Path = "/" + path
		h.ServeHTTP(w, inner)
	})
}
