package semantics

import (
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// A finding is what a probe tells of the message that it gives to a receive.
type finding struct {
	comm   int64  // the id of the communicator
	source source // which the probe names, or else its status
}

// probes says which messages a rank receives that probes give it, by the ids of the messages.
type probes struct {
	rank   *mpiRank
	makers map[int64][]uint32 // terminals of probes
	fixed  map[int64]finding  // all probes that give it tell the same
	comms  map[int64]int64    // all are on one communicator, which has this id
	walked func() map[int64]timeline[found]

	mutex sync.Mutex
	made  map[received]*Operation
}

// A found is the message that a probe gives, with the communicator.
type found struct {
	communicator *Communicator
	source       source
}

// A taken is a message of a probe that a call receives, and what the status of the call tells.
type taken struct {
	message int64
	status  source
}

func (t *taken) equal(u *taken) bool { return t == u || t != nil && u != nil && *t == *u }

// A received is an operation with the message that it receives.
type received struct {
	base *Operation
	found
}

func newProbes(r *mpiRank) *probes {
	p := &probes{
		rank: r, makers: r.makers(messageClass), fixed: make(map[int64]finding), comms: make(map[int64]int64),
		made: make(map[received]*Operation),
	}
	for id, makers := range p.makers {
		first := r.finding(makers[0])
		same, onOne := true, true
		for _, terminal := range makers[1:] {
			f := r.finding(terminal)
			same, onOne = same && f == first, onOne && f.comm == first.comm
		}
		if same {
			p.fixed[id] = first
		}
		if onOne && first.comm != absent {
			p.comms[id] = first.comm
		}
	}
	p.walked = sync.OnceValue(p.walk)
	return p
}

// finding returns what the probe with a terminal tells.
func (r *mpiRank) finding(terminal uint32) finding {
	args := r.arguments(terminal)
	f := finding{comm: absent, source: statusOf(args)}
	if v, ok := args.find("comm", cst.KindHandle); ok {
		f.comm = v.Int()
	}
	if v, ok := args.find("source", cst.KindRank); ok && v.Int() != r.constants.anySource {
		f.source.rank = v.Int()
	}
	if v, ok := args.find("tag", cst.KindTag); ok && v.Int() != r.constants.anyTag {
		f.source.tag = v.Int()
	}
	return f
}

// statusOf returns what the status of a call tells.
func statusOf(args arguments) source {
	if v, ok := args.told("status", cst.KindStatus); ok {
		return source{rank: v.Status().Source, tag: v.Status().Tag}
	}
	return unresolved
}

// walk goes through the probes that give messages of which others tell something else.
func (p *probes) walk() map[int64]timeline[found] {
	varied := make(map[int64]timeline[found])
	gives, receives := make(map[sequitur.Symbol][]int64), make(map[sequitur.Symbol]bool)
	for id, makers := range p.makers {
		if _, ok := p.fixed[id]; ok {
			continue
		}
		for _, terminal := range makers {
			gives[terminal] = append(gives[terminal], id)
		}
	}
	for terminal := range uint32(p.rank.read.Terminals()) {
		if plan := p.rank.role(terminal); plan != nil && takes(plan) {
			receives[terminal] = true
		}
	}
	if p.rank.count(func(s sequitur.Symbol) bool { return gives[s] != nil || receives[s] }) > maxRequestCalls {
		return varied
	}
	for position, s := range p.rank.read.Find(0, func(s sequitur.Symbol) bool { return gives[s] != nil }) {
		f := found{source: p.rank.finding(s).source}
		if o := p.rank.base(position, s).operation; o != nil {
			f.communicator = o.Communicator
		}
		for _, id := range gives[s] {
			list := varied[id]
			if n := len(list); n == 0 || list[n-1].value != f {
				varied[id] = append(list, since[found]{position + 1, f})
			}
		}
	}
	return varied
}

// resolve returns an operation with the message that it receives at a position.
func (p *probes) resolve(o *Operation, position uint64) *Operation {
	f, _, _, ok := p.walked()[o.taken.message].at(position)
	if !ok {
		return o
	}
	key := received{o, f}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	made := p.made[key]
	if made == nil {
		made = p.with(o, key)
		p.made[key] = made
	}
	return made
}

// with returns an operation with facts about the message that it receives.
func (p *probes) with(o *Operation, r received) *Operation {
	made := *o
	made.Communicator, made.Messages = r.communicator, slices.Clone(o.Messages)
	s := r.source
	if s.rank == implied {
		s.rank = o.taken.status.rank
	}
	for i := range made.Messages {
		m := &made.Messages[i]
		m.Communicator = r.communicator
		if s.rank != implied {
			m.Peer = p.rank.peerOf(r.communicator, s.rank)
		}
		if m.Tag == AnyTag && s.tag >= 0 {
			m.Tag = s.tag
		}
	}
	return &made
}
