package slice

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawPointers draws pointers to a few objects.
func drawPointers(t *rapid.T, a *memory, name string) *pointers {
	p := &pointers{}
	for range rapid.IntRange(0, 40).Draw(t, name) {
		o := a.objects[rapid.IntRange(0, len(a.objects)-1).Draw(t, "object")]
		switch rapid.IntRange(0, 20).Draw(t, "kind") {
		case 0:
			p.add(o.all())
		case 1, 2, 3, 4:
			p.add(place{o, drawAddresses(t, "at")})
		default:
			p.add(place{o, at(rapid.Int64Range(0, 99).Draw(t, "at"))})
		}
	}
	return p
}

// list returns the places of pointers.
func (a *memory) list(p *pointers) []place { return slices.Collect(a.places(p)) }

// addPlace adds a place, also a whole object of which all addresses are there already.
func (p *pointers) addPlace(at place) {
	if at == at.object.all() {
		p.parts = slices.DeleteFunc(p.parts, func(q place) bool { return q.object == at.object })
		p.whole.add(at.object.number)
	} else {
		p.add(at)
	}
}

// TestJoin checks that a union has the places that it has if they are added one by one, that what is the same
// is there once, and that nothing that is in the pool changes.
func TestJoin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &memory{pool: newPool()}
		for range rapid.IntRange(1, 4).Draw(t, "objects") {
			a.newObject("", rapid.SampledFrom([]int64{0, 8, 100}).Draw(t, "size"))
		}
		var (
			known []*pointers
			lists [][]place
		)
		for range 4 {
			p := a.one(drawPointers(t, a, "p"))
			known, lists = append(known, p), append(lists, a.list(p))
		}
		all := a.newUnion()
		byOne := &pointers{}
		for k, p := range known {
			q := known[(k+1)%len(known)]
			want := &pointers{}
			for _, at := range append(a.list(p), a.list(q)...) {
				want.addPlace(at)
			}
			both := a.join(p, q)
			if both != a.one(want) || both != a.join(p, q) || a.join(both, q) != both {
				t.Fatalf("%v and %v: %v, want %v", a.list(p), a.list(q), a.list(both), a.list(want))
			}
			known, lists = append(known, both), append(lists, a.list(both))
		}
		for k, p := range known {
			all.add(p)
			for _, at := range lists[k] {
				byOne.addPlace(at)
			}
			if !slices.Equal(a.list(p), lists[k]) {
				t.Fatalf("%v has become %v", lists[k], a.list(p))
			}
		}
		if got, want := a.one(&all.pointers), a.one(byOne); got != want {
			t.Fatalf("union: %v, want %v", a.list(got), a.list(want))
		}
	})
}
