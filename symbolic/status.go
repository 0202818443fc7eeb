package symbolic

// Statuses decides what of a status is worth keeping: the source and the tag say
// something new only where the call that asked for the message left them open,
// with a wildcard, or got something else than it asked for, as from no process at
// all. Keeping less makes equal calls have equal signatures.
type Statuses struct {
	// Implied stands for a source or tag that is the one asked for. It is a number
	// that is neither, in any status.
	Implied int64
}

// Keep returns what to record of a source or tag of a status, given what was
// asked for: Implied if the two are equal, and else what it is.
func (s Statuses) Keep(asked, got int64) int64 {
	if got == asked {
		return s.Implied
	}
	return got
}

// Restore is the inverse of Keep: it returns the source or tag of the status.
func (s Statuses) Restore(asked, kept int64) int64 {
	if kept == s.Implied {
		return asked
	}
	return kept
}
