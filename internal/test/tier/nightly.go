//go:build nightly

package tier

const nightly = 1
