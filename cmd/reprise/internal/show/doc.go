// Package show has the commands that show what is in a trace: info, cat, grammar, report, view and export.
package show
