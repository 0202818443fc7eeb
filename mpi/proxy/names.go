package proxy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/rankenc"
)

// named returns a name that no other function of the program has: text, or text and a number.
func (g *generator) named(text string) string {
	if text == "" || text[0] >= '0' && text[0] <= '9' || slices.Contains(taken, text) {
		text = "calls_" + text
	}
	g.names[text]++
	if n := g.names[text]; n > 1 {
		return g.named(text + "_" + strconv.Itoa(n))
	}
	return text
}

// taken are names that a function cannot have: what the program and its headers define, words of C, and what
// is in its library. No name of MPI, and none that begins with an underscore, is one of identifier's that is
// used.
var taken = strings.Fields(`main rank size no_statuses unweighted empty_weights begin forget reserve compute take choose put provide complete until_complete reached arrived
	until_arrived found from told told_elements told_cancelled fitting text room address buffer allocated status statuses flag unused operation comm_error file_error win_error query_request free_request cancel_request started oldest finish_all memory no_distances pending many room
	comm datatype group op request info message errhandler win file list numbers
	auto break case char const continue default do double else enum extern float for goto if inline int long register restrict
	return short signed sizeof static struct switch typedef union unsigned void volatile while asm typeof
	abort abs atexit atof atoi bsearch calloc div exit free getenv labs malloc memcpy memset memmove qsort rand realloc srand strtol system
	read write open close send recv wait select signal time clock exp log sin cos pow sqrt gamma index remove rename printf puts`)

// ranksName returns a name for what some ranks call.
func ranksName(ranks rankenc.Set, size int) string {
	first, last := ranks.At(0), ranks.At(ranks.Len()-1)
	switch n := ranks.Len(); {
	case n == size:
		return "all_ranks"
	case n == 1:
		return fmt.Sprintf("rank_%d", first)
	case last-first == n-1:
		return fmt.Sprintf("ranks_%d_to_%d", first, last)
	}
	return fmt.Sprintf("ranks_like_%d", first)
}

// maxLooked is how many calls and rules a name is made of.
const maxLooked = 100

// nameOf returns a name for a rule: that of the function of the recorded program that its calls are in, if it
// is known, or what its calls do, and with whom.
func (w *shapeWriter) nameOf(r int) string {
	var functions, whats, peers []string
	add := func(list *[]string, text string) {
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	looked := 0
	var walk func(r int)
	walk = func(r int) {
		for t := range w.grammar.Body(r) {
			if looked++; looked > maxLooked {
				return
			}
			if t.Rule >= 0 {
				walk(t.Rule)
				continue
			}
			c := w.calls[t.Symbol]
			add(&functions, functionOf(w.site(c)))
			what, peer := c.does(w.size)
			if add(&whats, what); peer != "" {
				add(&peers, peer)
			}
		}
	}
	walk(r)
	if len(functions) == 1 && functions[0] != "" && functions[0] != "main" {
		return w.named("in_" + functions[0]) // a name of the C library, maybe
	}
	parts := summary(whats)
	if len(peers) == 1 {
		parts = append(parts, peers[0])
	}
	return w.named(strings.Join(parts, "_"))
}

// summary returns what calls do together.
func summary(whats []string) []string {
	has := func(what string) bool { return slices.Contains(whats, what) }
	var parts []string
	switch {
	case has("send") && has("receive") || has("exchange"):
		parts = append(parts, "exchange")
	case has("send"):
		parts = append(parts, "send")
	case has("receive"):
		parts = append(parts, "receive")
	}
	for _, what := range whats {
		if what != "send" && what != "receive" && what != "exchange" && what != "wait" && len(parts) < 3 {
			parts = append(parts, what)
		}
	}
	if parts == nil {
		parts = whats
	}
	return parts[:min(len(parts), 3)]
}

// does returns in a word what a call does, and with whom if it is one process that can be named.
func (c *call) does(size int) (what, peer string) {
	name := c.signature.Function.Name
	short := identifier(strings.TrimPrefix(name, "MPI_"))
	role := spec.RoleOf(name)
	params := []string{"dest", "destination", "source"}
	switch {
	case role != nil && role.Sends != nil && role.Receives != nil && c.argument("dest") != nil:
		what = "exchange"
	case c.argument("dest") != nil || c.argument("destination") != nil && short != "wait" && short != "test":
		what = "send"
	case c.argument("source") != nil && !strings.Contains(short, "probe") && short != "wait" && short != "test":
		what = "receive"
	case strings.HasPrefix(short, "wait"), strings.HasPrefix(short, "test"):
		return "wait", ""
	default:
		return short, ""
	}
	for _, p := range params {
		if v := c.argument(p); v != nil {
			return what, v.neighbour(size)
		}
	}
	return what, ""
}

// neighbour returns a word for a process, or nothing.
func (v *values) neighbour(size int) string {
	if v.varies {
		return ""
	}
	step := 0
	for k, rank := range v.ranks {
		n := v.of[k][0].Int()
		if n < 0 || v.of[k][0].Kind() == cst.KindArray {
			return ""
		}
		d := int(n) - rank
		if d > size/2 {
			d -= size
		} else if d <= -size/2 {
			d += size
		}
		if k == 0 {
			step = d
		} else if step != d {
			step = 0
		}
	}
	switch {
	case len(v.ranks) == 1:
		return fmt.Sprintf("with_%d", v.of[0][0].Int())
	case step == 1:
		return "with_next"
	case step == -1:
		return "with_previous"
	case step > 1:
		return fmt.Sprintf("with_%d_after", step)
	case step < -1:
		return fmt.Sprintf("with_%d_before", -step)
	}
	return ""
}

// functionOf returns the name of the function of a call site such as "solver.f90:212 exchange_", or nothing.
func functionOf(site string) string {
	site, _, _ = strings.Cut(site, " < ")
	site, _, _ = strings.Cut(site, " #") // of several on a line
	place, function, ok := strings.Cut(site, " ")
	if !ok {
		place, function, ok = "", site, strings.Contains(site, "+0x")
	}
	function, _, _ = strings.Cut(function, "+0x")
	function = strings.Trim(identifier(function), "_")
	if !ok || place != "" && !strings.Contains(place, ":") {
		return ""
	}
	return function
}
