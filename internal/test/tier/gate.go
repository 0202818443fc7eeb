//go:build !nightly

package tier

const nightly = 0
