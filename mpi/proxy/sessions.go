package proxy

import (
	_ "embed"
	"fmt"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// Programs may begin with a session of MPI 4, before MPI_Init or without it. Then MPI_COMM_WORLD does not say
// who is who when the proxy begins: a session of its own does.

// sessionsHeader has that session.
//
//go:embed runtime/sessions.h
var sessionsHeader string

// beginnings are what ranks begin MPI with.
type beginnings struct {
	world, session bool // MPI_Init, a session, at some time
	sessionBefore  bool // on some ranks a session came first
}

// findBeginnings finds out how ranks begin MPI, and checks that all do.
func (g *generator) findBeginnings() error {
	g.begins = beginnings{}
	for number, calls := range g.calls {
		world, session := false, false
		if len(calls) == 0 {
			continue
		}
		for _, symbol := range g.grammars[number].FirstUses() {
			switch name := calls[symbol].signature.Function.Name; {
			case isInit(name):
				world = true
			case spec.RoleOf(name).Begins == "session" && calls[symbol].left == "":
				g.begins.sessionBefore = g.begins.sessionBefore || !world
				session = true
			}
		}
		if !world && !session {
			return fmt.Errorf(
				"proxy: neither MPI_Init nor MPI_Session_init is among the calls of %s: MPI was there before, or it is no trace of an MPI program",
				text.Ranks(g.trace.ShapeRanks(number)))
		}
		g.begins.world, g.begins.session = g.begins.world || world, g.begins.session || session
	}
	return nil
}

// beginLines returns the lines of main with which MPI begins.
func (g *generator) beginLines() []string {
	switch {
	case !g.begins.sessionBefore:
		return []string{g.init, "begin(MPI_COMM_WORLD, RANKS);"}
	case g.begins.world:
		return []string{"argument_count = argc, argument_list = argv;", "begin_session(RANKS);"}
	}
	return []string{"(void)argc, (void)argv;", "begin_session(RANKS);"}
}
