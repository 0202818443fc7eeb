package pprof_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/google/pprof/profile"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/pprof"
)

func Example() {
	trace, err := reprise.Open("../../internal/testtrace/testdata/stencil.exact.rpz")
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	var file bytes.Buffer
	if err := pprof.Write(context.Background(), &file, trace, export.Options{}); err != nil {
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
