package format_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/format"
)

// The caller assigns the kinds.
const (
	kindNames format.Kind = iota
	kindStream
)

func Example() {
	var file bytes.Buffer
	w := format.NewWriter(&file, format.Options{})
	stream := bytes.Repeat([]byte("send receive "), 1000)
	for _, err := range []error{
		w.Add(kindNames, 0, []byte("send, receive")),
		w.Add(kindStream, 0, stream),
		w.Add(kindStream, 1, stream), // equal, so stored once
		w.Close(),
	} {
		if err != nil {
			log.Fatal(err)
		}
	}

	r, err := format.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()), format.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for i, s := range r.All() {
		fmt.Println(i, s.Kind, s.Key, s.Len, "bytes, shared:", s.Source != s.Offset)
	}
	s, _ := r.Lookup(kindStream, 1)
	content, err := r.Content(s)
	fmt.Println(bytes.Equal(content, stream), err)
	// Output:
	// 0 0 0 13 bytes, shared: false
	// 1 1 0 13000 bytes, shared: false
	// 2 1 1 13000 bytes, shared: true
	// true <nil>
}

func ExampleSalvage() {
	var file bytes.Buffer
	w := format.NewWriter(&file, format.Options{})
	w.Add(kindStream, 0, []byte("the first rank"))
	w.Add(kindStream, 1, []byte("the second rank"))
	w.Close()

	cut := file.Bytes()[:50] // in the second section
	r, losses, err := format.Salvage(bytes.NewReader(cut), int64(len(cut)), format.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range r.All() {
		content, _ := r.Content(s)
		fmt.Printf("rank %d: %s\n", s.Key, content)
	}
	for _, l := range losses {
		if l.Known {
			fmt.Printf("rank %d: lost, %d bytes at offset %d\n", l.Key, l.Len, l.Offset)
		}
	}
	// Output:
	// rank 0: the first rank
	// rank 1: lost, 17 bytes at offset 33
}
