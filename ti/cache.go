package ti

import (
	"bytes"
	"strings"

	"github.com/reprise-trace/reprise/cst"
)

// A role is what an action says about the completeness of a rank.
type role uint8

const (
	roleNone     role = iota // not an action
	roleInit                 // the first action of a rank
	roleFinalize             // the last action of a rank
	roleLocation             // where the next action was called
	roleOther
)

// roleOf returns the role of the action that a line keeps after its rank.
func roleOf(s string) role {
	word := strings.Trim(s, " \t\r\n")
	if i := strings.IndexAny(word, " \t"); i >= 0 {
		word = word[:i]
	}
	switch word {
	case "init":
		return roleInit
	case "finalize":
		return roleFinalize
	case "location":
		return roleLocation
	}
	return roleOther
}

// An entry is the outcome of parsing what follows the rank on a line.
type entry struct {
	function int
	args     []cst.Value
	id       uint64
	role     role
}

// parse returns the entry of a line's text s, from behind the rank and the blank
// to before the line feed.
func parse(s string) *entry {
	for _, i := range byWord[firstWord(s)] {
		if args, ok := forms[i].parse(s); ok {
			return &entry{function: i, args: args, role: roleOf(s)}
		}
	}
	return keep(s + "\n")
}

// keep returns the entry that keeps s as it is.
func keep(s string) *entry {
	return &entry{function: opaque, args: []cst.Value{cst.String(s)}, role: roleOf(s)}
}

// A cache maps the text of lines, without rank and line feed, to their entries.
// It begins anew when it is full. The zero cache is empty and ready for use.
type cache struct {
	entries map[string]*entry
	size    int    // bytes of text and arguments
	id      uint64 // of the last entry added
}

const (
	maxCacheEntries = 1 << 16
	maxCacheSize    = 64 << 20
	valueSize       = 32 // bytes of a cst.Value
)

// lookup returns the entry of text, or nil.
func (c *cache) lookup(text []byte) *entry { return c.entries[string(text)] }

// add parses text and returns its entry. An entry that would take more than its
// share of the cache is not kept and has no id.
func (c *cache) add(text []byte) *entry {
	s := string(text)
	e := parse(s)
	size := len(s) + valueSize*(2+bytes.Count(text, []byte(" ")))
	if size > maxCacheSize/64 {
		return e
	}
	if c.entries == nil || len(c.entries) == maxCacheEntries || c.size > maxCacheSize-size {
		c.entries, c.size = make(map[string]*entry), 0
	}
	c.id++
	e.id = c.id
	c.entries[s] = e
	c.size += size
	return e
}
