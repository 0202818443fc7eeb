//go:build !linux

package cli

// LargePages does nothing.
func LargePages(int) {}
