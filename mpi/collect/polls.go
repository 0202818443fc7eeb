package collect

import (
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/rankenc"
)

// A poll is a function and the site that polls, 0 if it is not known.
type poll struct {
	function int
	site     int64
}

// inVain reports whether a call has looked for something and not found it.
func (f *plan) inVain(r *spool.Record) bool {
	if f.role.Polls == "" || r.Failed || r.Result != 0 {
		return false
	}
	found := f.argument(r, f.role.Polls)
	return found.Presence == spool.Given && found.Int() == 0
}

// leaveOut counts a call that is not recorded.
func (p *process) leaveOut(t *thread, r *spool.Record) {
	at := poll{function: r.Function}
	if r.Site != 0 {
		at.site = p.site(t, r.Site)
	}
	if p.polls == nil {
		p.polls = make(map[poll]uint64)
	}
	p.polls[at]++
}

// pollsOf returns what processes, in the order of their ranks, left out, by the names of sites.
func pollsOf(list []*process, names []format.Name) (polls []format.Polls) {
	sites := make(map[int64]string, len(names))
	for _, n := range names {
		sites[n.Value] = n.Name
	}
	type key struct{ function, site string }
	calls := make(map[key]uint64)
	ranks := make(map[key]*rankenc.SetBuilder)
	for _, p := range list {
		for at, n := range p.polls {
			k := key{plans[at.function].Name, sites[at.site]}
			if ranks[k] == nil {
				ranks[k] = new(rankenc.SetBuilder)
			}
			calls[k] += n
			ranks[k].Add(p.rank)
		}
	}
	for k, n := range calls {
		polls = append(polls, format.Polls{Function: k.function, Site: k.site, Calls: n, Ranks: ranks[k].Finish()})
	}
	return polls
}
