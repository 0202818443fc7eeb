package timing

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTerminalIndex(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var x terminalIndex
		model := make(map[uint32]int)
		t.Repeat(map[string]func(*rapid.T){
			"number": func(t *rapid.T) {
				terminal := rapid.OneOf(rapid.Uint32Range(0, 9),
					rapid.Uint32Range(lowTerminals-2, lowTerminals+2), rapid.Uint32()).Draw(t, "terminal")
				if _, ok := model[terminal]; !ok {
					model[terminal] = len(model)
				}
				if got := x.number(terminal); got != model[terminal] || x.len() != len(model) {
					t.Fatalf("number of %d is %d of %d, want %d of %d", terminal, got, x.len(),
						model[terminal], len(model))
				}
			},
			"reset": func(t *rapid.T) {
				x.reset()
				clear(model)
			},
		})
	})
}
