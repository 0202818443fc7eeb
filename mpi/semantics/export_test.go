package semantics

// OpenWithin is [Open] with limits.
var OpenWithin = open

// ExchangeAt returns what the call at a position exchanges, found from that position; false if
// it is not the call that says so, but one that starts it.
func ExchangeAt(r *Rank, o *Operation, position uint64, terminal uint32) (Exchange, bool) {
	if o.data == nil || o.data.terminal != terminal {
		return Exchange{}, false
	}
	return r.meanings.exchange(&dataCall{position: position, terminal: terminal}), true
}
