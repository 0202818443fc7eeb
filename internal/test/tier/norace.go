//go:build !race

package tier

const race = 0
