//go:build !linux

package collect

// freeSpace returns nothing: it is not known how much the file system of a directory has.
func freeSpace(string) (free, all uint64) { return 0, 0 }
