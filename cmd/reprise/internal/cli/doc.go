// Package cli is what all commands of reprise share: a question about a trace, flags, exit statuses,
// interrupts, progress, help, and how inputs are opened and outputs written.
package cli
