package report

// maxAnchors is how many anchors a rank has at most, about.
const maxAnchors = 2000

// An anchors puts a line through the times of edges by those of a model, of as few
// pieces as keep within a tolerance: the swinging door of E. H. Bristol, "Swinging Door
// Trending: Adaptive Trend Recording?", ISA National Conference, 1990.
type anchors struct {
	tolerance float64 // in ns
	most      int     // it is no use once there are more

	edges []int64
	times []int64

	model     float64 // of the last anchor
	low, high float64 // slopes from it that keep within the tolerance
	last      edge    // the one before
}

// An edge is the start or the end of a call: its number, its time by the model, and by
// the clock.
type edge struct {
	number int64
	model  float64
	time   int64
}

func (a *anchors) tooMany() bool { return len(a.edges) > a.most }

// pin makes an anchor of an edge.
func (a *anchors) pin(e edge) {
	a.edges, a.times = append(a.edges, e.number), append(a.times, e.time)
	a.model, a.last = e.model, e
	a.low, a.high = 0, maxSlope
}

const maxSlope = 1e300

// add adds an edge, the numbers of which ascend.
func (a *anchors) add(e edge) {
	if len(a.edges) == 0 {
		a.pin(e)
		return
	}
	if a.fits(e) {
		a.last = e
		return
	}
	if a.last.number != a.edges[len(a.edges)-1] {
		a.pin(a.last)
		if a.fits(e) {
			a.last = e
			return
		}
	}
	a.pin(e)
}

// fits reports whether a line from the last anchor to e keeps within the tolerance of
// all edges between, and narrows the slopes to those that keep within that of e.
func (a *anchors) fits(e edge) bool {
	width := e.model - a.model
	rise := float64(e.time - a.times[len(a.times)-1])
	if width <= 0 {
		return rise <= a.tolerance && rise >= -a.tolerance
	}
	if slope := rise / width; slope < a.low || slope > a.high {
		return false
	}
	a.low = max(a.low, (rise-a.tolerance)/width)
	a.high = min(a.high, (rise+a.tolerance)/width)
	return true
}

// finish makes an anchor of the last edge.
func (a *anchors) finish() {
	if len(a.edges) > 0 && a.last.number != a.edges[len(a.edges)-1] {
		a.pin(a.last)
	}
}
