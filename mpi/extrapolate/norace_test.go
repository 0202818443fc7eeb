//go:build !race

package extrapolate_test

const raceDetector = false
