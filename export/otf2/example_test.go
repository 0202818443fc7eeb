package otf2_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/export/otf2"
	"github.com/reprise-trace/reprise/trace"
)

// An archive is a directory, which OTF2's library writes.
func Example() {
	t, err := trace.Open("run.rpz", trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer t.Close()
	said, err := otf2.Write(context.Background(), "run.otf2", t, otf2.Options{})
	if err != nil {
		log.Fatal(err) // for one, that the library is not there
	}
	fmt.Println(said.Events, "events,", said.Messages, "messages")
}
