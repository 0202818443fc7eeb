// Package collect turns what MPI programs have recorded into traces.
package collect
