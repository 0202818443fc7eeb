//go:build !linux

package record

import (
	"errors"

	"github.com/reprise-trace/reprise/rankenc"
)

// Programs are recorded on Linux alone: what record needs of the system is not there elsewhere.

func blockForwarded() (restore func(), ok bool) { return nil, false }

const mostProcessors = 1024

func runOn(rankenc.Set) (restore func() bool, err error) {
	return nil, errors.New("--cpu: processors can be chosen on Linux alone")
}
