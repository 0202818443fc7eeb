package record

import (
	"fmt"
	"syscall"
)

// launchers are the signals that some launchers, such as that of MPICH, have as their status
// if one ended a process.
var launchers = map[syscall.Signal]bool{
	syscall.SIGILL: true, syscall.SIGABRT: true, syscall.SIGBUS: true, syscall.SIGFPE: true,
	syscall.SIGKILL: true, syscall.SIGSEGV: true, syscall.SIGTERM: true,
}

// StatusWords says how a command ended with a status that is not 0, as shells and launchers
// tell it: statuses above 128 stand for signals.
func StatusWords(status int) string {
	words := ""
	switch {
	case launchers[syscall.Signal(status)]:
		words = fmt.Sprintf("a launcher may mean signal %d (%v)", status, syscall.Signal(status))
	case status == 126:
		words = "it cannot be executed"
	case status == 127:
		words = "a program was not found"
	case status > 128 && status < 128+65:
		words = signalWords(syscall.Signal(status - 128))
	}
	if words != "" {
		words = ": " + words
	}
	return fmt.Sprintf("status %d%s", status, words)
}

// signalWords says what a signal did.
func signalWords(s syscall.Signal) string {
	why := ""
	switch s {
	case syscall.SIGKILL:
		why = ", by the system if memory ran out, or by a time limit"
	case syscall.SIGTERM:
		why = ", as batch systems and launchers do"
	case syscall.SIGABRT:
		why = ", as MPI_Abort and assertions do"
	}
	return fmt.Sprintf("ended by signal %d (%v)%s", int(s), s, why)
}
