package efficiency

// ExecuteAll returns options with which every call is executed.
func ExecuteAll(o Options) Options {
	o.executeAll = true
	return o
}

// EachCall returns options that call Progress after each executed call.
func EachCall(o Options) Options {
	o.every = 1
	return o
}
