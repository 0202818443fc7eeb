// Package report shows what is in a trace as one HTML page: a summary, a timeline of chosen
// ranks, who waits for whom and why, the functions, who communicates with whom, the sizes of messages, what
// is unevenly distributed over the ranks, and the loops.
//
//	err := report.Write(ctx, file, trace, report.Options{Name: "run.rpz"})
//
// [Write] writes the page to a file that needs no network and no server: it opens from disk,
// and its policy forbids it to fetch anything. A [View] serves the same page, and answers it
// what it asks for of the times of calls.
//
// # What is drawn
//
// Nothing is drawn or told at a finer grain than what is known. Where the trace has the times
// of every call, a page has them as they are, in 2 to 4 bytes a call, of as many ranks as
// Options.Budget has room for; of other ranks it has sums over spans of time, and zoom stops
// at these. A View has all of them, at every zoom. Where the trace has statistics or
// histograms, calls are drawn as long as their like took on average. Sums and estimates are
// hatched. All else follows the structure of the run, not its length: the page has grammars,
// not calls, so that a trace of a billion calls is as quick to open as one of a thousand. What
// would make a page too large, such as the ten-thousandth function, is left out, and the page
// says how much.
//
// Equal traces give equal pages, to the byte. Names in a trace can be anything, also text made
// to be run by a browser; the page shows them as text.
//
// The charts are drawn by Apache ECharts, a part of which is in assets with its licence.
package report
