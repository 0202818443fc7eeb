//go:build !race

package compress

import "sync"

// A pool keeps coders.
type pool = sync.Pool
