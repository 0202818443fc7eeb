package otf2_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"

	"github.com/reprise-trace/reprise/mpi/otf2"
)

// The bytes that an archive's ranks have sent are summed.
func ExampleOpen() {
	archive, err := otf2.Open(context.Background(), "run.otf2", otf2.Options{})
	if errors.Is(err, otf2.ErrNoLibrary) {
		log.Fatal("install libotf2-trace-dev: ", err)
	}
	check(err)
	defer archive.Close()
	var bytes uint64
	for {
		r, err := archive.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		check(err)
		if r.Kind.Class != otf2.Event {
			continue
		}
		for i, f := range r.Kind.Fields {
			if f.Name == "msgLength" && (r.Kind.Name == "MpiSend" || r.Kind.Name == "MpiIsend") {
				bytes += r.Values[i]
			}
		}
	}
	fmt.Println(bytes)
}

// An archive of one location that enters a region and leaves it. Such examples need OTF2's library, so this one is
// not run.
func ExampleNewWriter() {
	w, err := otf2.NewWriter(context.Background(), "run.otf2", otf2.Options{})
	check(err)
	text := func(id uint64, text string) {
		check(w.Write(&otf2.Record{Kind: otf2.LookupKind("String"), Values: []uint64{id}, Texts: []string{text}}))
	}
	write := func(kind string, values ...uint64) {
		check(w.Write(&otf2.Record{Kind: otf2.LookupKind(kind), Values: values}))
	}
	constant := func(name string) uint64 {
		v, _ := otf2.Constant(name)
		return v
	}
	const none = 1<<32 - 1
	text(0, "")
	text(1, "main")
	write("ClockProperties", 1e9, 0, 100, 1<<64-1)
	write("SystemTreeNode", 0, 1, 0, none)
	write("LocationGroup", 0, 1, constant("LOCATION_GROUP_TYPE_PROCESS"), 0, none)
	write("Location", 0, 1, constant("LOCATION_TYPE_CPU_THREAD"), 2, 0)
	write("Region", 0, 1, 1, 0, constant("REGION_ROLE_FUNCTION"), constant("PARADIGM_USER"), 0, 0, 0, 0)
	check(w.Write(&otf2.Record{Kind: otf2.LookupKind("Enter"), Time: 10, Values: []uint64{0}}))
	check(w.Write(&otf2.Record{Kind: otf2.LookupKind("Leave"), Time: 20, Values: []uint64{0}}))
	check(w.Close())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
