package extrapolate

// Faults is what a result is checked for.
var Faults = faults
