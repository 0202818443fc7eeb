package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/textcases"
)

func comm(id int64) Local { return Local{"comm", id} }

// TestCases resolves creations of processes, in lines of ranks, what they do, and arguments, and compares the
// errors, and what ranks call comm 0, 1 and so on. What a rank does is at the position @n, or the next one:
// it frees an object, or creates one, by a kind with hyphens. The parent is the world, the result comm 0,
// unless they are named. The worlds have as many ranks as the case says; each rank also has self, comm −2,
// and own, comm −3. Objects are those after position 9, or those that at says.
func TestCases(t *testing.T) {
	for _, name := range []string{"errors", "groups", "worlds"} {
		t.Run(name, func(t *testing.T) { textcases.Run(t, "testdata/"+name+".txt", resolved) })
	}
}

func resolved(t *testing.T, c textcases.Case) string {
	var r Resolver
	names, ranks := []string{"a", "b"}, 0
	sizes := strings.Split(c.Arg("worlds"), ",")
	if len(sizes) == 1 {
		names = []string{"world"}
	}
	for i, size := range sizes {
		var members []int
		for range number(size) {
			r.Declare(comm(-2), fmt.Sprint("self", ranks), []int{ranks})
			r.Declare(comm(-3), fmt.Sprint("own", ranks), []int{ranks})
			members = append(members, ranks)
			ranks++
		}
		r.Declare(world, names[i], members)
	}
	positions := make([]uint64, ranks)
	for line := range strings.Lines(c.Input) {
		who, what, _ := strings.Cut(line, ":")
		words := strings.Fields(what)
		at, moved := strings.CutPrefix(words[0], "@")
		if moved {
			words = words[1:]
		}
		free := words[0] == "free"
		var creation Creation
		if !free {
			creation = parseCreation(words[0], words[1:])
		}
		for _, rank := range numbers(who) {
			if moved {
				positions[rank] = must.Get(strconv.ParseUint(at, 10, 64))
			}
			if free {
				r.Free(rank, positions[rank], parseLocal(words[1]))
			} else {
				r.Create(rank, positions[rank], creation)
			}
			positions[rank]++
		}
	}
	g, err := r.Resolve()
	out := ""
	if err != nil {
		out = err.Error() + "\n"
	}
	for _, rank := range []int{-1, ranks} {
		if _, ok := g.At(rank, world, 0); ok {
			t.Errorf("rank %d knows the world", rank)
		}
	}
	if left, err := r.Resolve(); len(left.list) != 0 || err != nil {
		t.Errorf("%d groups left, %v", len(left.list), err)
	}
	at := c.Arg("at")
	if at == "" {
		return out + known(t, g, ranks, 9)
	}
	for position := range strings.SplitSeq(at, ",") {
		out += "at " + position + ":\n" + known(t, g, ranks, must.Get(strconv.ParseUint(position, 10, 64)))
	}
	return out
}

// known says what ranks call comm 0, 1 and so on at a position.
func known(t *testing.T, g *Groups, ranks int, position uint64) (out string) {
	t.Helper()
	groups := make(map[string]*Group) // by name
	for id := range int64(10) {
		who := make(map[string][]string) // by what is said of the group
		for rank := range ranks {
			m, ok := g.At(rank, comm(id), position)
			if !ok {
				continue
			}
			name := m.Group.Name()
			if other := groups[name]; other != nil && other != m.Group {
				t.Errorf("two groups are %s", name)
			}
			if groups[name] = m.Group; m.Local()[m.Rank] != rank {
				t.Errorf("%s: rank %d is %d", name, rank, m.Local()[m.Rank])
			}
			text := fmt.Sprintf("comm %d: %s of %v", id, name, m.Local())
			if !slices.Equal(m.Peers(), m.Local()) {
				text += fmt.Sprintf(", peers %v", m.Peers())
			}
			if m.Remote {
				text += ", remote"
			}
			who[text] = append(who[text], strconv.Itoa(rank))
		}
		for _, text := range slices.Sorted(maps.Keys(who)) {
			out += strings.Join(who[text], ",") + ": " + text + "\n"
		}
	}
	return out
}

// parseCreation returns what a kind and arguments say.
func parseCreation(kind string, words []string) Creation {
	c := Creation{Parent: world, Result: comm(0)}
	for c.Kind < 255 && strings.ReplaceAll(c.Kind.String(), " ", "-") != kind {
		c.Kind++
	}
	for _, word := range words {
		switch key, value, _ := strings.Cut(word, "="); key {
		case "parent":
			c.Parent = parseLocal(value)
		case "result":
			c.Result = parseLocal(value)
		case "peer":
			c.Peer = parseLocal(value)
		case "members":
			c.Members = numbers(value)
		case "port":
			c.Port = value
		case "high":
			c.High = true
		case "color":
			c.Color = int64(number(value))
		case "key":
			c.Key = int64(number(value))
		case "tag":
			c.Tag = int64(number(value))
		case "leader":
			c.Leader = number(value)
		case "remote":
			c.RemoteLeader = number(value)
		case "rank":
			c.Rank = number(value)
		case "size":
			c.Size = number(value)
		default:
			panic(word)
		}
	}
	return c
}

// parseLocal returns what an object is called: comm 3 is 3, other classes are named, as in win:3.
func parseLocal(text string) Local {
	switch text {
	case "none":
		return Local{}
	case "world":
		return world
	case "self":
		return comm(-2)
	case "own":
		return comm(-3)
	}
	if class, id, ok := strings.Cut(text, ":"); ok {
		return Local{class, int64(number(id))}
	}
	return comm(int64(number(text)))
}

func number(text string) int { return must.Get(strconv.Atoi(text)) }

// numbers returns those of a list such as 2,0 or 0-3.
func numbers(text string) (list []int) {
	for part := range strings.SplitSeq(text, ",") {
		first, last, ok := strings.Cut(part, "-")
		if !ok || first == "" { // a number below zero
			first, last = part, part
		}
		for n := number(first); n <= number(last); n++ {
			list = append(list, n)
		}
	}
	return list
}
