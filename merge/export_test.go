package merge

// SameCalls compares the calls of two parts.
var SameCalls = sameCalls
