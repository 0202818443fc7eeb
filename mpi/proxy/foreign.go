package proxy

import "strings"

// Handlers of errors that no call had made when one used them: MPI has some of its own, such as that of
// the C++ bindings which throws exceptions. The program makes some that do nothing in their place.

// findForeign notes such handlers, and the kind of function that makes one.
func (g *generator) findForeign() {
	g.foreign = make(map[int64]string)
	for number, calls := range g.calls {
		if len(calls) == 0 {
			continue
		}
		made := make(map[int64]bool)
		for _, symbol := range g.grammars[number].FirstUses() {
			c := calls[symbol]
			c.uses(func(class string, id int64, makes bool) {
				switch {
				case class != "errhandler" || !isObject(id):
				case makes:
					made[id] = true
				case !made[id] && g.foreign[id] == "":
					g.foreign[id] = handlerOf(c.signature.Function.Name)
				}
			})
		}
	}
}

// handlerOf returns of what a function is given a handler of errors.
func handlerOf(function string) string {
	for _, of := range []string{"Win", "File", "Session"} {
		if strings.HasPrefix(function, "MPI_"+of+"_") {
			return of
		}
	}
	return "Comm"
}
