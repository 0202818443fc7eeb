package semantics_test

import (
	"strings"
	"testing"
)

func TestTIPointToPoint(t *testing.T) {
	m := tiModel(t, strings.Join([]string{
		"0 init", "0 compute 12",
		"0 send 1 77 3 1", "0 isend 1 78 3 0", "0 Ssend 1 79 0 -1", "0 send 1 80 2 -1", "0 send -333 1 2 1",
		"0 send 9 1 2 1",
		"0 sendRecv 3 1 2 -333 1 0", "0 Start 1 7 20 1", "0 wait 0 1 7", "0 waitall 2",
		"0 Put 1 0 4 1", "0 Get_accumulate 1 0 4 0", "0 Win_fence", "0 Win_flush",
		"1 recv 0 77 9 1", "1 irecv -333 -444 9 1", "1 Start 1 7 20 1", "1 wait 0 1 7", "1 sendRecv 3 -333 2 0 1 0",
		"1 Start 1 8 6 1", "1 test 0 1 8", "1 wait 0 1 8", "1 irecv 0 8 1 1",
		"",
	}, "\n"))
	compare(t, m, 0,
		"init: nothing", "compute: nothing",
		"send: point-to-point on world; send 1 tag 77: 3 elements, 12 bytes, blocking",
		"isend: point-to-point on world; send 1 tag 78: 3 elements, 24 bytes",
		"Ssend: point-to-point on world; send 1 tag 79: 0 elements, 0 bytes, blocking, synchronous",
		"send: point-to-point on world; send 1 tag 80: 2 elements, -1 bytes, blocking",
		"send: point-to-point on world",
		"send: point-to-point on world; send -2 tag 1: 2 elements, 8 bytes, blocking",
		"sendRecv: point-to-point on world; send 1 tag -2: 3 elements, 12 bytes, blocking; receive -1 tag -2: 2 elements, 16 bytes, blocking",
		"Start: point-to-point on world; send 1 tag 7: 5 elements, 20 bytes",
		"wait: completion", "waitall: completion",
		"Put: one-sided; put 1 tag 0: 4 elements, 16 bytes",
		"Get_accumulate: one-sided; fetch 1 tag 0: 4 elements, 32 bytes",
		"Win_fence: collective", "Win_flush: synchronization",
	)
	compare(t, m, 1,
		"recv: point-to-point on world; receive 0 tag 77: 9 elements, 36 bytes, blocking",
		"irecv: point-to-point on world; receive -1 tag -1: 9 elements, 36 bytes",
		"Start: point-to-point on world; receive 0 tag 7: 5 elements, 20 bytes",
		"wait: completion",
		"sendRecv: point-to-point on world; receive 0 tag -2: 2 elements, 16 bytes, blocking",
		"Start: point-to-point on world; receive -1 tag 8: -1 elements, 6 bytes",
		"test: completion", "wait: completion",
		"irecv: point-to-point on world; receive 0 tag 8: 1 elements, 4 bytes",
	)
}

func TestTICollective(t *testing.T) {
	m := tiModel(t, strings.Join([]string{
		"0 barrier", "0 bcast 3 1 1 ", "0 reduce 3 9 0 0 ", "0 iallreduce 3 9 0 ", "0 gather 2 3 0 1 0",
		"0 gather 2 0 1 1", "0 scatter 2 3 1 1 0",
		"0 alltoall 2 2 1 0", "0 allgatherv 2 3 4 0 1", "0 alltoallv 5 2 3 9 4 5 1 0",
		"0 alltoallv 5 2 3 4 9 4 5 6 1 0",
		"0 reducescatter 3 4 9 0", "0 bcast 1 9 1 ", "0 bcast 2 1 -1 ", "0 IO - write_all 100",
		"0 gatherv 2 3 4 0 0 1", "0 scatterv 3 4 2 0 0 1",
		"1 bcast 3 1 1 ", "1 reduce 3 9 0 0 ", "1 gather 2 3 0 1 0", "1 gatherv 2 3 4 0 0 1",
		"",
	}, "\n"))
	compare(t, m, 0,
		"barrier: collective on world",
		"bcast: collective on world root 1 0→12",
		"reduce: collective on world root 0 24→24",
		"iallreduce: collective on world 24→24",
		"gather: collective on world root 0 8→48",
		"gather: collective on world root 0 8→-1",
		"scatter: collective on world root 1 0→24",
		"alltoall: collective on world 16→32",
		"allgatherv: collective on world 16→28",
		"alltoallv: collective on world 20→72",
		"alltoallv: collective 36→120",
		"reducescatter: collective on world 56→24",
		"bcast: collective on world 0→4",
		"bcast: collective on world root 1 0→-1",
		"IO - write_all: file access 100→0",
		"gatherv: collective on world root 0 16→28",
		"scatterv: collective on world root 0 56→8",
	)
	compare(t, m, 1,
		"bcast: collective on world root 1 12→0",
		"reduce: collective on world root 0 24→0",
		"gather: collective on world root 0 8→0",
		"gatherv: collective on world root 0 16→0",
	)
}
