package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// A SiteProfile is what ranks did in calls of a function that were made in one place of the
// program.
type SiteProfile struct {
	Site     string     `json:"site"` // such as solver.f90:212 exchange_; empty if it is not known, or not one
	Function string     `json:"function"`
	Calls    uint64     `json:"calls"`
	Ranks    int        `json:"ranks"`          // that make calls there
	Time     *Durations `json:"time,omitempty"` // as in FunctionProfile
}

// Sites are the places where the calls of a run were made, by their handles.
type Sites map[int64]string

// SitesOf returns the names of the places that a trace has.
func SitesOf(t *trace.Trace) Sites {
	need.That(t != nil, "query: no trace")
	names := make(Sites)
	for _, n := range t.Run().Names {
		if n.Kind == cst.KindHandle && n.Class == layout.Site.Type.Class {
			names[n.Value] = n.Name
		}
	}
	return names
}

// Of returns the place where a call was made, such as solver.f90:212 exchange_; empty if the
// trace does not say it.
func (s Sites) Of(c *trace.Call) string {
	need.That(c != nil && c.Function != nil, "query: no call")
	if i := layout.SiteOf(c.Function); i >= 0 {
		return s.name(c.Args[i].Int())
	}
	return ""
}

func (s Sites) name(site int64) string { return cmp.Or(s[site], fmt.Sprintf("%#x", site)) }

// Frames returns the places in the name of one: that of the call and, if the trace says so, those
// that led to it, the innermost first. What tells several calls on a line apart is left out.
func Frames(site string) []string {
	return strings.Split(layout.SiteName(site), " < ")
}

// HasSites reports whether a trace says where calls were made.
func HasSites(t *trace.Trace) bool {
	need.That(t != nil, "query: no trace")
	return slices.ContainsFunc(t.Functions(), func(f cst.Function) bool { return layout.SiteOf(&f) >= 0 })
}

// Sites returns the profile by the places where calls were made, of a trace that says it: those
// of the profile's signatures, with their times.
func (p *Profile) Sites(t *trace.Trace) []SiteProfile {
	names := SitesOf(t)
	common := names.common()
	type key struct{ site, function string }
	sites, shapes := make(map[key]*SiteProfile), make(map[key]map[int]bool)
	times := make(map[key]*timing.Statistics)
	for _, s := range p.Signatures {
		var ranks []int // the first and the last of each shape
		for _, n := range s.shapes {
			of := p.Shapes[n].Ranks
			ranks = append(ranks, of.At(0), of.At(of.Len()-1))
		}
		k := key{names.siteOf(t.Signature(s.Signature), ranks, common), s.Function}
		of := sites[k]
		if of == nil {
			of = &SiteProfile{Site: k.site, Function: k.function}
			sites[k], times[k], shapes[k] = of, new(timing.Statistics), make(map[int]bool)
		}
		of.Calls = wire.AddSat(of.Calls, s.Calls)
		for _, n := range s.shapes {
			if !shapes[k][n] {
				shapes[k][n] = true
				of.Ranks += p.Shapes[n].Ranks.Len()
			}
		}
		if s.statistics != nil {
			times[k].Merge(s.statistics)
		}
	}
	var list []SiteProfile
	for k, of := range sites {
		if p.Timed {
			of.Time = durationsOf(times[k])
		}
		list = append(list, *of)
	}
	slices.SortFunc(list, func(a, b SiteProfile) int {
		return cmp.Or(byCalls(a.Calls, b.Calls, a.Function, b.Function), cmp.Compare(a.Site, b.Site))
	})
	return list
}

// siteOf returns the name of the place where ranks make the calls of a signature, of which some
// are given: if what led there differs, what is the same of it. It is empty if the signature has
// none, or it is not known to be one.
func (s Sites) siteOf(signature trace.Signature, ranks []int, common map[int64]string) string {
	i := layout.SiteOf(signature.Function)
	if i < 0 {
		return ""
	}
	a := signature.Args[i]
	if v, ok := a.Constant(); ok {
		return s.name(v.Int())
	}
	values := a.Stream()
	for _, rank := range ranks {
		if v, err := a.At(rank); err == nil {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return ""
	}
	place := layout.Place(values[0].Int())
	if place < layout.PathBit || slices.ContainsFunc(values, func(v cst.Value) bool {
		return layout.Place(v.Int()) != place
	}) {
		return "" // of several lines, as earlier versions merged them
	}
	return common[place]
}

// common returns for each place to which different calls lead the name of what all that do share,
// such as halo.c:31 north < ….
func (s Sites) common() map[int64]string {
	frames := make(map[int64][]string)
	for site, name := range s {
		place, list := layout.Place(site), Frames(name)
		if known, ok := frames[place]; ok {
			n := 0
			for n < min(len(known), len(list)) && known[n] == list[n] {
				n++
			}
			list = known[:n:n]
		}
		frames[place] = list
	}
	common := make(map[int64]string)
	for place, list := range frames {
		if place >= layout.PathBit && len(list) > 0 {
			common[place] = strings.Join(append(list, "…"), " < ")
		}
	}
	return common
}
