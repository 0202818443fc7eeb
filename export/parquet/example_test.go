package parquet_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/parquet"
)

func Example() {
	trace, err := reprise.Open("../../internal/testtrace/testdata/stencil.exact.rpz")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	var file bytes.Buffer
	if err := parquet.Write(context.Background(), &file, trace, export.TableOptions{}); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", file.Bytes()[:4])
	// Output:
	// PAR1
}
