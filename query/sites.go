package query

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
)

// A SiteProfile is what ranks did in calls of a function that were made in one place of the
// program.
type SiteProfile struct {
	Site     string     `json:"site"` // such as solver.f90:212 exchange_; empty if it is not known, or not one
	Function string     `json:"function"`
	Calls    uint64     `json:"calls"`
	Ranks    int        `json:"ranks"`          // at least so many called it
	Time     *Durations `json:"time,omitempty"` // as in FunctionProfile
}

// siteParam is the parameter that says where a call was made.
const siteParam = "site"

// Sites are the places where the calls of a run were made, by their handles.
type Sites map[int64]string

// SitesOf returns the names of the places that a trace has.
func SitesOf(t *reprise.Trace) Sites {
	names := make(Sites)
	for _, n := range t.Run().Names {
		if n.Kind == cst.KindHandle && n.Class == siteParam {
			names[n.Value] = n.Name
		}
	}
	return names
}

// Of returns the place where a call was made, such as solver.f90:212 exchange_; empty if the
// trace does not say it.
func (s Sites) Of(c *reprise.Call) string {
	for i := range c.Function.Params {
		if isSite(&c.Function.Params[i]) {
			return s.name(c.Args[i].Int())
		}
	}
	return ""
}

func (s Sites) name(site int64) string { return cmp.Or(s[site], fmt.Sprintf("%#x", site)) }

// Frames returns the places in the name of one: that of the call and, if the trace says so, those
// that led to it, the innermost first. What tells several calls on a line apart is left out.
func Frames(site string) []string {
	if i := strings.LastIndex(site, " #"); i >= 0 && strings.Trim(site[i+2:], "0123456789") == "" {
		site = site[:i]
	}
	return strings.Split(site, " < ")
}

// HasSites reports whether a trace says where calls were made.
func HasSites(t *reprise.Trace) bool {
	return slices.ContainsFunc(t.Functions(), func(f cst.Function) bool {
		return slices.ContainsFunc(f.Params, func(p cst.Param) bool { return isSite(&p) })
	})
}

func isSite(p *cst.Param) bool {
	return p.Name == siteParam && p.Type.Kind == cst.KindHandle && p.Type.Class == siteParam
}

// Sites returns the profile by the places where calls were made, of a trace that says it: those
// of the profile's signatures, with their times.
func (p *Profile) Sites(t *reprise.Trace) []SiteProfile {
	names := SitesOf(t)
	type key struct{ site, function string }
	sites := make(map[key]*SiteProfile)
	times := make(map[key]*timing.Statistics)
	for _, s := range p.Signatures {
		k := key{siteOf(t.Signature(s.Signature), names), s.Function}
		of := sites[k]
		if of == nil {
			of = &SiteProfile{Site: k.site, Function: k.function}
			sites[k], times[k] = of, new(timing.Statistics)
		}
		of.Calls, of.Ranks = wire.AddSat(of.Calls, s.Calls), max(of.Ranks, s.Ranks)
		if s.statistics != nil {
			times[k].Merge(s.statistics)
		}
	}
	var list []SiteProfile
	for k, of := range sites {
		if p.Timed {
			of.Time = DurationsOf(times[k])
		}
		list = append(list, *of)
	}
	slices.SortFunc(list, func(a, b SiteProfile) int {
		return cmp.Or(byCalls(a.Calls, b.Calls, a.Function, b.Function), cmp.Compare(a.Site, b.Site))
	})
	return list
}

// siteOf returns the name of the place where calls of a signature are made, empty if it has none,
// or not the same for all.
func siteOf(s reprise.Signature, names Sites) string {
	for i := range s.Function.Params {
		if !isSite(&s.Function.Params[i]) {
			continue
		}
		if v, ok := s.Args[i].Constant(); ok {
			return names.name(v.Int())
		}
	}
	return ""
}
