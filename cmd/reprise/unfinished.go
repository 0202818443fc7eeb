package main

import "sync"

// unfinished is the files that are being written.
var unfinished works

// Works are what must be undone if the program ends in the midst of it.
type works struct {
	mu   sync.Mutex
	list map[*func()]bool // what undoes each
}

// begin calls start, which begins a work and returns what undoes it, and returns
// a function to be called when the work is finished or undone. Once works are
// abandoned it waits for the end of the program.
func (w *works) begin(start func() (undo func(), err error)) (finish func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	undo, err := start()
	if err != nil {
		return nil, err
	}
	if w.list == nil {
		w.list = make(map[*func()]bool)
	}
	w.list[&undo] = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.list, &undo)
	}, nil
}

// abandon undoes all works. None begins or finishes afterwards.
func (w *works) abandon() {
	w.mu.Lock() // and leaves it so
	for undo := range w.list {
		(*undo)()
	}
}
