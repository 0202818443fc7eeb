package pprof_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/google/pprof/profile"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/pprof"
	"github.com/reprise-trace/reprise/trace"
)

func Example() {
	tr, err := trace.Open("../../internal/test/testtrace/testdata/stencil.exact.rpz", trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	var file bytes.Buffer
	if err := pprof.Write(context.Background(), &file, tr, export.Options{}); err != nil {
		log.Fatal(err)
	}
	p, err := profile.Parse(&file)
	if err != nil {
		log.Fatal(err)
	}
	for _, value := range p.SampleType {
		fmt.Println(value.Type, value.Unit)
	}
	// Output:
	// calls count
	// time nanoseconds
}
