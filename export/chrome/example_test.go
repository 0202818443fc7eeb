package chrome_test

import (
	"context"
	"log"
	"os"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/chrome"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

func Example() {
	tr, err := trace.Open("../../internal/test/testtrace/testdata/stencil.exact.rpz", trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	first := rankenc.World(1)
	chosen := export.Options{Ranks: &first, Between: &export.Interval{To: 1000}}
	if err := chrome.Write(context.Background(), os.Stdout, tr, chosen); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"displayTimeUnit":"ns","otherData":{"began":"2026-11-20T23:30:46.838171766Z","ranks":"4","source":"MPI","times":"as recorded","writer":"reprise"},"traceEvents":[
	// {"ph":"M","pid":0,"tid":1,"name":"process_name","args":{"name":"rank 0"}},
	// {"ph":"M","pid":0,"tid":1,"name":"process_labels","args":{"labels":"times: as recorded"}},
	// {"ph":"M","pid":0,"tid":1,"name":"process_sort_index","args":{"sort_index":0}},
	// {"ph":"M","pid":0,"tid":1,"name":"thread_name","args":{"name":"thread 0"}},
	// {"ph":"X","pid":0,"tid":1,"ts":0,"dur":267056.520,"name":"MPI_Init","cat":"mpi.other","args":{"argc":2,"argv":"[\"./stencil.ompi\" \"100\"]","position":0}}
	// ]}
}
