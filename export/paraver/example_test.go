package paraver_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/paraver"
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
	chosen := export.Options{Ranks: &first, Between: &export.Interval{To: 10_000}}
	messages, err := paraver.Write(context.Background(), os.Stdout, tr, chosen)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(messages.Written, "of", messages.Sent, "messages")
	// Output:
	// #Paraver (20/11/26 at 23:30):316505894_ns:0:1:1(1:0)
	// 2:0:1:1:1:0:50000003:31
	// 1:0:1:1:1:0:267056520:15
	// 2:0:1:1:1:267056520:50000003:0
	// 0 of 0 messages
}
