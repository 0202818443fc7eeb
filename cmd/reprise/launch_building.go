package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// A building says that something is being built for an MPI: on a terminal for how long, in
// a line that it leaves nothing of, and elsewhere in one line.
type building struct {
	stderr io.Writer
	stop   chan struct{} // nil unless there is a line
	lines  sync.WaitGroup
}

func (b *building) begin(mpi string) { b.say("the recorder for " + mpi) }

// say says what is being built.
func (b *building) say(what string) {
	text := fmt.Sprintf("reprise: building %s, which is kept for the next time", what)
	if f, ok := b.stderr.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		fmt.Fprintln(b.stderr, text)
		return
	}
	b.stop = make(chan struct{})
	b.lines.Go(func() { b.show(text, time.Second) })
}

// show shows a line, and each step for how long, until it is stopped.
func (b *building) show(text string, step time.Duration) {
	begun := time.Now()
	ticks := time.NewTicker(step)
	defer ticks.Stop()
	for {
		fmt.Fprintf(b.stderr, "\r%s … %.0f s", text, time.Since(begun).Seconds())
		select {
		case <-b.stop:
			fmt.Fprint(b.stderr, "\r\x1b[K")
			return
		case <-ticks.C:
		}
	}
}

// end ends the line.
func (b *building) end() {
	if b.stop != nil {
		close(b.stop)
		b.lines.Wait()
		b.stop = nil
	}
}
