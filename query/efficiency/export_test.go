package efficiency

// SetExecuteAll has every call executed, or not, and returns what sets it back.
func SetExecuteAll(all bool) func() {
	before := executeAll
	executeAll = all
	return func() { executeAll = before }
}

// SetEvery sets after how many executed calls progress is told, and returns what sets it back.
func SetEvery(calls uint64) func() {
	before := every
	every = calls
	return func() { every = before }
}
