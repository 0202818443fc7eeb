// Package compress has the commands that make traces of other files and check them: compress, codecs, verify
// and repair.
package compress
