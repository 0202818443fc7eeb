package simgrid_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/simgrid"
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
	var file bytes.Buffer
	if err := simgrid.Write(context.Background(), &file, tr,
		simgrid.Options{Options: export.Options{Ranks: &first}}); err != nil {
		log.Fatal(err)
	}
	for range 4 {
		line, err := file.ReadString('\n')
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(line)
	}
	// Output:
	// 0 init
	// 0 compute 521029
	// 0 irecv 3 1 8 6
	// 0 compute 30
}
