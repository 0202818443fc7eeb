package extrapolate

// Balanced returns the factors of a number of ranks.
var Balanced = balanced
