// Package tracer records what a Go program calls.
//
//	var read = tracer.Func2[string, int]("read", "path", "out bytes")
//
//	process, err := tracer.Open(tracer.Config{Path: "program.rpz"})
//	…
//	thread := process.Thread()
//	begun := thread.Begin()
//	data, err := os.ReadFile(path)
//	read.End(thread, begun, path, len(data))
//	…
//	err = process.Close()
//
// and then, with the name of the file,
//
//	reprise grammar program.rpz --ranks 0
//
// A goroutine that ends before the program, as of a request, gives its thread back with
// [Thread.Release], for the next one: otherwise every request is a thread of the trace, and the
// process holds what each has recorded by itself.
//
// A [Process] records the calls of its goroutines, with their times, and writes them to a
// part file. [Func1] and its relatives declare functions with arguments that the compiler
// checks, [Func] any others. Several processes of one run, each with a rank of its own,
// make one trace: merge.Files, or the command reprise merge, joins their part files.
// Packages tracehttp, tracesql and traceos record what programs do by way of net/http,
// database/sql and os.
//
// A [Recorder] is what a Process is made of: the calls of one rank, with any times or none,
// and no file. It interns each call's signature and folds the sequence of terminals into a
// grammar, so that it holds what repeats once. [Recorder.Finish] returns the [merge.Part]
// that [merge.Write] puts into a trace with those of other ranks. [merge.Join] makes one
// part of those of several threads.
package tracer
