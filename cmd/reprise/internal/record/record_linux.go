package record

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/reprise-trace/reprise/rankenc"
)

// blockForwarded blocks the signals that are handed on, in this thread and in what it starts, until restore
// is called.
func blockForwarded() (restore func(), ok bool) {
	var blocked, before unix.Sigset_t
	for _, f := range forwarded {
		n := uint(f.(syscall.Signal)) - 1
		blocked.Val[n/64] |= 1 << (n % 64)
	}
	if !setMask(unix.SIG_BLOCK, &blocked, &before) {
		return nil, false
	}
	return func() { setMask(unix.SIG_SETMASK, &before, nil) }, true
}

func setMask(how int, set, old *unix.Sigset_t) bool {
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGPROCMASK, uintptr(how), uintptr(unsafe.Pointer(set)),
		uintptr(unsafe.Pointer(old)), 8, 0, 0)
	return errno == 0
}

// mostProcessors is how many a set of the system has at most here.
const mostProcessors = len(unix.CPUSet{}) * 64

// runOn has this thread, and what it starts, run on some processors, until restore is called, which reports
// whether all is as before.
func runOn(set rankenc.Set) (restore func() bool, err error) {
	var before, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return nil, fmt.Errorf("--cpu: %w", err)
	}
	for _, n := range set.All() {
		wanted.Set(n)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil {
		return nil, fmt.Errorf("--cpu %s: there is none of these that processes of this job may use: %w", set, err)
	}
	return func() bool { return unix.SchedSetaffinity(0, &before) == nil }, nil
}
