package collect

import (
	"syscall"
	"unsafe"
)

// What Linux calls its clocks, and says of the real time.
const (
	clockRealtime  = 0
	clockMonotonic = 1
	unsynchronised = 0x40 // STA_UNSYNC
)

// readClocks reads the clocks of this machine: in several tries, of which the one counts that took least. It
// returns false if nothing keeps the real time in step with that of others, by NTP or PTP.
func readClocks() (best clockReading, ok bool) {
	var x syscall.Timex
	if _, err := syscall.Adjtimex(&x); err != nil || x.Status&unsynchronised != 0 {
		return best, false
	}
	least := int64(-1)
	for range 16 {
		before, real, after := clockTime(clockMonotonic), clockTime(clockRealtime), clockTime(clockMonotonic)
		if took := after - before; before > 0 && real > 0 && after > 0 && (least < 0 || took < least) {
			least = took
			best = clockReading{before + took/2, real, (took + 1) / 2}
		}
	}
	best.error += int64(x.Maxerror) * 1000
	return best, least >= 0
}

// clockTime returns what a clock says, 0 if there is none.
func clockTime(clock uintptr) int64 {
	var t syscall.Timespec
	if _, _, err := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&t)), 0); err != 0 {
		return 0
	}
	return t.Nano()
}
