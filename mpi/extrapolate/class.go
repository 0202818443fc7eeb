package extrapolate

import (
	"fmt"
	"regexp"

	"github.com/reprise-trace/reprise/cst"
)

// bits returns how long a program is: calls that several classes make alike count once, but for a reference.
func (c *class) bits() (sum int) {
	known := make(map[string]bool)
	const perClass, perPlace, perLoop = 4, 3, 2
	c.leaves(func(c *class) {
		sum += perClass
		c.numbers(func(p *place, key string, f *form) {
			if len(f.exprs) == 0 {
				return
			}
			of := [2]int64{f.site, 0} // calls at one call site are one of the program
			if f.site == 0 {
				of[1] = int64(p.like[labelled])
			}
			if key = fmt.Sprint(of, key, " ", f.exprs[0].text); !known[key] {
				known[key] = true
				sum += f.exprs[0].bits
			}
		})
		var count func(body []*place)
		count = func(body []*place) {
			for _, p := range body {
				if sum += perPlace; p.loop {
					sum += perLoop
				}
				count(p.body)
			}
		}
		count(c.body)
	})
	return sum
}

// places are the words for places in a grid.
var places = regexp.MustCompile(`\b(column|row|plane)\b|rank[+-].*(columns|rows|planes)`)

// hasPlaces reports whether a number of a program depends on the place of a rank in the grid.
func (c *class) hasPlaces() (found bool) {
	c.leaves(func(c *class) {
		c.numbers(func(_ *place, _ string, f *form) {
			found = found || len(f.exprs) > 0 && places.MatchString(f.exprs[0].text)
		})
	})
	return found
}

// leaves yields the classes that have a program.
func (c *class) leaves(yield func(c *class)) {
	if c.finer == nil {
		yield(c)
	}
	for _, finer := range c.order {
		finer.leaves(yield)
	}
}

// numbers yields all numbers of the program of a class, with what tells those of a place apart.
func (c *class) numbers(yield func(p *place, key string, f *form)) {
	var numbers func(p *place, key string, a *argument)
	numbers = func(p *place, key string, a *argument) {
		for i := range a.numbers {
			yield(p, fmt.Sprint(key, " ", i), &a.numbers[i])
		}
		if a.kind == cst.KindArray && a.constant.Kind() == 0 {
			yield(p, key+" length", &a.length)
		}
		if a.rule != nil {
			numbers(p, key+" rule", a.rule)
		}
		for i, e := range a.elements {
			numbers(p, fmt.Sprint(key, " element ", i), e)
		}
	}
	var walk func(body []*place)
	walk = func(body []*place) {
		for _, p := range body {
			if p.loop {
				walk(p.body)
				yield(p, "trips", &p.trips)
				continue
			}
			if p.call == nil {
				continue
			}
			for i, a := range p.call.args {
				numbers(p, fmt.Sprint(i), a)
			}
			if p.call.grouped {
				yield(p, "rank in the group", &p.call.group[0])
				yield(p, "size of the group", &p.call.group[1])
			}
		}
	}
	walk(c.body)
}

// forms yields the numbers that have an expression: the name of the function, nothing for a loop, and what it
// is of it.
func (c *class) forms(declared *cst.Table, yield func(c *class, fn, parameter string, f form)) {
	add := func(fn, parameter string, f form) {
		if len(f.exprs) > 0 {
			yield(c, fn, parameter, f)
		}
	}
	var walk func(body []*place)
	walk = func(body []*place) {
		for _, p := range body {
			if p.loop {
				walk(p.body)
				add("", p.trips.what, p.trips)
				continue
			}
			if p.call == nil {
				continue
			}
			fn := &declared.Functions()[p.call.fn]
			for i, a := range p.call.args {
				for _, f := range a.numbers {
					add(fn.Name, fn.Params[i].Name, f)
				}
				if a.kind == cst.KindArray {
					add(fn.Name, "length of "+fn.Params[i].Name, a.length)
					if a.rule != nil {
						for _, f := range a.rule.numbers {
							add(fn.Name, fn.Params[i].Name+"[index]", f)
						}
					}
				}
			}
		}
	}
	if c.finer == nil {
		walk(c.body)
	}
	for _, finer := range c.order {
		finer.forms(declared, yield)
	}
}

// A class is ranks that have one program, or classes of a finer split.
type class struct {
	name  string
	split split
	finer map[string]*class // by name; nil if the class has a program
	order []*class          // the same

	body  []*place
	one   bool      // trace that has such ranks
	first *rank     // of the largest trace
	alike []trait   // of all ranks in the traces
	all   [][]*rank // by trace
}

// failure says why a class has no program.
type failure struct {
	class, what string
	depth       int // how far it came: the error names the deepest of several
}

func (f *failure) Error() string { return f.what }
