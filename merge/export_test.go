package merge

// SameCalls compares the calls of two parts.
var SameCalls = sameCalls

// Racing says that the tests run under the race detector.
var Racing = false
