//go:build race

package extrapolate_test

// raceDetector reports that tests run with the race detector: long ones are skipped, as nothing runs in
// several goroutines.
const raceDetector = true
