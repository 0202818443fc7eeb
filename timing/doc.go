// Package timing implements codecs for the times of calls: durations, and gaps
// between calls.
package timing
