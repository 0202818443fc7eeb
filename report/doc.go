// Package report writes what is in a trace as one HTML page: a summary, a timeline of
// chosen ranks, the functions, who communicates with whom, the sizes of messages, what
// is unevenly distributed over the ranks, and the loops.
//
//	err := report.Write(ctx, file, trace, report.Options{Name: "run.rpz"})
//
// [Write] is all there is to call. The page needs no network and no server: it opens
// from disk, and its policy forbids it to fetch anything. It holds grammars, not calls,
// and draws what can be seen of them, so that its size follows the structure of the
// run: a trace of a billion calls is as quick to open as one of a thousand, and the
// timeline zooms down to single calls with their arguments. What would make a page too
// large, such as the ten-thousandth function, is left out, and the page says how much.
//
// Equal traces give equal pages, to the byte. Names in a trace can be anything, also
// text made to be run by a browser; the page shows them as text.
//
// The charts are drawn by Apache ECharts, a part of which is in assets with its licence.
package report
