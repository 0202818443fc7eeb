// Package answers writes answers of package query as the command and the page of a trace
// show them: sentences, rows and trees of loops.
package answers
