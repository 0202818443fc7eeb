package extrapolate

// Faults is what a result is checked for.
var Faults = faults

// Balanced returns the factors of a number of ranks.
var Balanced = balanced
