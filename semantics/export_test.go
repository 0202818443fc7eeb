package semantics

// OpenWithin is [Open] with limits.
var OpenWithin = open
