package perfetto_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/perfetto"
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
	if err := perfetto.Write(context.Background(), &file, tr, export.Options{Ranks: &first}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.Len(), "bytes")
	// Output:
	// 43819 bytes
}
