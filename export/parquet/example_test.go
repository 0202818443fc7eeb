package parquet_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/parquet"
	"github.com/reprise-trace/reprise/trace"
)

func Example() {
	tr, err := trace.Open("../../internal/test/testtrace/testdata/stencil.exact.rpz", trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	var file bytes.Buffer
	if err := parquet.Write(context.Background(), &file, tr, export.TableOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", file.Bytes()[:4])
	// Output:
	// PAR1
}
