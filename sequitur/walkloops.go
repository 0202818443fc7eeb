package sequitur

// A Loop is a stretch of a sequence that repeats itself.
type Loop struct {
	Period uint64 // every symbol but the first Period ones is that Period symbols before it
	Length uint64 // of the stretch, in symbols
}

// AppendLoops appends the loops that begin at the place of w, which is where the
// next run does, to loops: those that the grammar has for repetitions that it is
// in and that are not the last, the outermost first. A caller that needs to see
// a period only once skips the others with [Grammar.Walk].
func (w *Walker) AppendLoops(loops []Loop) []Loop {
	begin := len(loops)
	rest := uint64(0) // symbols left in the rules below the one looked at
	for i := len(w.path) - 1; i >= 0; i-- {
		p := w.path[i]
		s := w.g.symbols[p.at]
		length := w.g.length(s.ref)
		if s.ref.isRule() && p.left > 0 {
			loops = append(loops, Loop{length, rest + p.left*length})
		}
		rest += p.left*length + w.g.symbols[p.end-1].end - s.end
	}
	for i, j := begin, len(loops)-1; i < j; i, j = i+1, j-1 {
		loops[i], loops[j] = loops[j], loops[i]
	}
	return loops
}
