package collect

import "syscall"

// freeSpace returns how many bytes the file system of a directory has for others, and how many it
// has in all; nothing if that is not known.
func freeSpace(directory string) (free, all uint64) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(directory, &s); err != nil {
		return 0, 0
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize)
}
