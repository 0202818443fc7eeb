package launching

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// A Building says that something is being built for an MPI: on a terminal for how long, in
// a line that it leaves nothing of, and elsewhere in one line.
type Building struct {
	Stderr io.Writer
	Stop   chan struct{} // nil unless there is a line
	Lines  sync.WaitGroup
}

func (b *Building) Begin(mpi string) { b.Say("the recorder for " + mpi) }

// Say says what is being built.
func (b *Building) Say(what string) {
	text := fmt.Sprintf("reprise: building %s, which is kept for the next time", what)
	if f, ok := b.Stderr.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		fmt.Fprintln(b.Stderr, text)
		return
	}
	b.Stop = make(chan struct{})
	b.Lines.Go(func() { b.Show(text, time.Second) })
}

// Show shows a line, and each step for how long, until it is stopped.
func (b *Building) Show(text string, step time.Duration) {
	begun := time.Now()
	ticks := time.NewTicker(step)
	defer ticks.Stop()
	for {
		fmt.Fprintf(b.Stderr, "\r%s … %.0f s", text, time.Since(begun).Seconds())
		select {
		case <-b.Stop:
			fmt.Fprint(b.Stderr, "\r\x1b[K")
			return
		case <-ticks.C:
		}
	}
}

// End ends the line.
func (b *Building) End() {
	if b.Stop != nil {
		close(b.Stop)
		b.Lines.Wait()
		b.Stop = nil
	}
}
