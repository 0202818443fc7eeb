// Package answer has the commands that answer questions about a run, each by a struct of package query:
// profile, messages, matrix, match, waits, efficiency, hang, at and diff.
package answer
