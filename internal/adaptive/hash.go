package adaptive

// Hash returns a hash of three numbers, which contexts are told apart by.
func Hash(a, b, c uint64) uint64 {
	h := (b*0x9e3779b97f4a7c15+c)*0xd6e8feb86659fd93 + a
	return h ^ h>>32
}
