package sequitur

// Concat returns a grammar of the sequences of all gs, one after the other. The cost
// is that of reading the grammars. Nothing is found that they have in common: the
// result may be larger than what a Builder would make of the whole sequence. It is for
// sequences that share no terminals, such as those of the threads of a process, where
// it has the rules and the symbols of all, with one start rule.
func Concat(gs ...*Grammar) *Grammar {
	mustAll(gs)
	var (
		a     assembler
		start []run
	)
	for _, g := range gs {
		first := uint32(len(a.rules)) // number of the first rule of g
		for r := range g.ends {
			begin, end := g.span(uint32(r))
			var body []run
			for _, s := range g.symbols[begin:end] {
				if s.ref.isRule() {
					s.ref = ruleRef(first + s.ref.rule())
				}
				body = append(body, run{s.ref, s.count})
			}
			if r == len(g.ends)-1 {
				start = append(start, body...)
			} else {
				a.add(body, false)
			}
		}
	}
	if len(start) == 0 {
		return &Grammar{}
	}
	a.add(start, true)
	return &a.g
}
