package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Running is set while a command runs that signals are for.
var Running atomic.Bool

// Impatient is set once a command reads a trace or a part: then nothing is lost if the program ends in the
// midst of it, as what it writes is not in its place until it is whole.
var Impatient atomic.Bool

// toldOfInterrupt is set when the command says itself that it was interrupted.
var toldOfInterrupt atomic.Bool

// Unfinished is the files that are being written.
var Unfinished works

// Works are what must be undone if the program ends in the midst of it.
type works struct {
	mu        sync.Mutex
	list      []*func() // what undoes each
	abandoned bool
}

// Begin calls start, which begins a work and returns what undoes it, and returns
// a function to be called when the work is finished or undone. Once works are
// abandoned, none begins.
func (w *works) Begin(start func() (undo func(), err error)) (finish func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.abandoned {
		return nil, context.Canceled
	}
	undo, err := start()
	if err != nil {
		return nil, err
	}
	w.list = append(w.list, &undo)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.list = slices.DeleteFunc(w.list, func(u *func()) bool { return u == &undo })
	}, nil
}

// abandon undoes all works, the last first.
func (w *works) abandon() {
	w.mu.Lock()
	list := slices.Clone(w.list)
	w.abandoned = true
	w.mu.Unlock()
	for _, undo := range slices.Backward(list) {
		(*undo)()
	}
}

// End waits for the end of the program if works are abandoned: they are being undone.
func (w *works) End() {
	w.mu.Lock()
	abandoned := w.abandoned
	w.mu.Unlock()
	if abandoned {
		select {}
	}
}

// lateEnd is how long such a command may take to notice that it is cancelled.
const lateEnd = 150 * time.Millisecond

// Interruptible returns a context that the first signal cancels. A second one, and the end of
// lateEnd, ends the program without waiting for what does not notice that, but takes away
// what is not finished, too.
func Interruptible() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	next := func() {
		for <-signals; Running.Load(); <-signals {
			continue // it is for the command that record runs
		}
	}
	go func() {
		next()
		cancel()
		ended := make(chan bool)
		go func() {
			next()
			close(ended)
		}()
		late := make(chan bool)
		go func() {
			for time.Sleep(lateEnd); !Impatient.Load(); time.Sleep(lateEnd) {
				continue // it may read a trace a moment after the signal
			}
			close(late)
		}()
		said := ""
		select {
		case <-ended:
		case <-late:
			said = "reprise: interrupted\n"
		}
		Unfinished.abandon() // the line of progress, too
		if !toldOfInterrupt.Load() {
			fmt.Fprint(os.Stderr, said)
		}
		os.Exit(ExitInterrupted)
	}()
	return ctx
}
