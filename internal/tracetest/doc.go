// Package tracetest makes traces for tests, in memory.
package tracetest
