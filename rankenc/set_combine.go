package rankenc

import "github.com/RoaringBitmap/roaring/v2"

// unite returns the set of the ranks that are in s or in t.
func (s Set) unite(t Set) Set {
	switch {
	case s.bitmap != nil && t.bitmap != nil:
		return setOfBitmap(roaring.Or(s.bitmap, t.bitmap))
	case s.bitmap != nil:
		s, t = t, s
	}
	var b SetBuilder
	add := func(lo, hi int) {
		if lo = max(lo, b.next); lo <= hi {
			b.AddRange(lo, hi)
		}
	}
	runs := runCursor{items: s.items}
	lo, hi, more := runs.next()
	for tlo, thi := range t.Ranges() {
		for ; more && lo <= tlo; lo, hi, more = runs.next() {
			add(lo, hi)
		}
		add(tlo, thi)
	}
	for ; more; lo, hi, more = runs.next() {
		add(lo, hi)
	}
	return b.Finish()
}

// combine returns the set of the ranks that are only in s, in both, and only in t, each if it says so.
func (s Set) combine(t Set, inS, inBoth, inT bool) Set {
	switch {
	case s.bitmap != nil && t.bitmap != nil:
		return combineBitmaps(s.bitmap, t.bitmap, inS, inBoth, inT)
	case s.bitmap != nil:
		s, inS, t, inT = t, inT, s, inS
	}
	var b SetBuilder
	add := func(lo, hi int, in bool) {
		if in {
			b.AddRange(lo, hi)
		}
	}
	runs := runCursor{items: s.items}
	lo, hi, more := runs.next()
	for tlo, thi := range t.Ranges() {
		for ; more && hi < tlo; lo, hi, more = runs.next() {
			add(lo, hi, inS)
		}
		if !more && !inT {
			break
		}
		for more && lo <= thi {
			add(lo, tlo-1, inS)
			add(tlo, lo-1, inT)
			end := min(hi, thi)
			add(max(lo, tlo), end, inBoth)
			if lo, tlo = end+1, end+1; lo > hi {
				lo, hi, more = runs.next()
			}
		}
		add(tlo, thi, inT)
	}
	for ; more && inS; lo, hi, more = runs.next() {
		add(lo, hi, true)
	}
	return b.Finish()
}

// combineBitmaps is combine for bitmaps.
func combineBitmaps(s, t *roaring.Bitmap, inS, inBoth, inT bool) Set {
	out := roaring.New()
	if inBoth {
		out = roaring.And(s, t)
	}
	if inS {
		out.Or(roaring.AndNot(s, t))
	}
	if inT {
		out.Or(roaring.AndNot(t, s))
	}
	return setOfBitmap(out)
}

// A runCursor goes through the runs of consecutive ranks in items.
type runCursor struct {
	items  []item
	digits [maxDepth]uint32
	off    int // of the next run from the first rank of the item
}

// next returns the first and the last rank of the next run; more is false if there is none.
func (c *runCursor) next() (lo, hi int, more bool) {
	if len(c.items) == 0 {
		return 0, 0, false
	}
	it := &c.items[0]
	lo = int(it.start) + c.off
	if c.off, more = it.step(&c.digits, c.off); !more {
		c.items = c.items[1:]
		c.off = 0
	}
	return lo, lo + int(it.length) - 1, true
}
