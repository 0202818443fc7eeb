package slice

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Units are the files of a program of Fortran that can be told from others: those that units of constant
// numbers are connected to by constant names. Units that share a name are one, and names are the same if what
// is behind the last / is. Without OPEN, a unit is connected to the file fort. and its number.
type units struct {
	parent map[string]string // of a unit or a name, another one that is the same
	all    map[int64]bool    // units that may be connected to any file
	opened map[int64]bool    // units that a statement opens
	none   bool              // nothing is known: a unit of a number that is computed is opened
}

// unitsOf finds the units of a program.
func unitsOf(instructions []*instruction) *units {
	u := &units{parent: map[string]string{}, all: map[int64]bool{}, opened: map[int64]bool{}}
	for _, i := range instructions {
		begin, ok := strings.CutPrefix(i.callee.global, "@_FortranAioBegin")
		form, known := ioBegins[begin]
		if !ok || !known || form.unit < 0 || form.unit >= len(i.operands) {
			continue
		}
		unit, isNumber := form.number(i)
		if isNumber {
			u.join(unitName(unit), fmt.Sprint("fort.", unit))
		}
		if begin != "OpenUnit" {
			continue
		}
		name, known := i.fileName()
		switch {
		case !isNumber:
			u.none = true
		case !known:
			u.all[unit] = true
		case name != "":
			u.join(unitName(unit), name)
		}
		u.opened[unit] = true
	}
	return u
}

// number returns the number of the unit of a statement, if it is a constant. The unit * is 5 for what is
// read, and 6 for what is written.
func (f ioForm) number(i *instruction) (int64, bool) {
	unit := i.operands[f.unit]
	switch {
	case unit.number != -1:
		return unit.number, unit.isNumber
	case f.writes:
		return 6, unit.isNumber
	}
	return 5, unit.isNumber
}

func unitName(number int64) string { return fmt.Sprint("unit ", number) }

func (u *units) root(name string) string {
	for u.parent[name] != "" {
		name = u.parent[name]
	}
	return name
}

func (u *units) join(a, b string) {
	if a, b = u.root(a), u.root(b); a != b {
		u.parent[a] = b
	}
}

// file returns what stands for the file of a unit, "files" if it may be any.
func (u *units) file(unit int64, isNumber bool) string {
	if u.none || !isNumber || unit < 0 || u.all[unit] {
		return "files"
	}
	return "file " + u.root(unitName(unit))
}

// files returns what stands for all files that can be told apart.
func (u *units) files() []string {
	var list []string
	for name := range u.parent {
		list = append(list, "file "+u.root(name))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// fileName returns the name that an OPEN gives, empty if it gives none, and false if it is not known.
func (i *instruction) fileName() (name string, ok bool) {
	for _, user := range i.users {
		if user.op != "call" || !strings.HasPrefix(user.callee.global, "@_FortranAio") {
			return "", false
		}
		if user.callee.global != "@_FortranAioSetFile" {
			continue
		}
		if len(user.operands) < 3 || !user.operands[2].isNumber {
			return "", false
		}
		text, length := user.operands[1], user.operands[2].number
		g, found := i.block.of.module.named[text.global].(*global)
		if !found || !g.constant || g.external || text.offset != 0 || text.unbounded {
			return "", false
		}
		match := plainText.FindStringSubmatch(i.block.of.module.lines[g.line])
		if match == nil || length <= 0 || length > int64(len(match[1])) {
			return "", false
		}
		name = path.Base(strings.TrimRight(match[1][:length], " "))
	}
	return name, true
}

var plainText = regexp.MustCompile(`c"([^"\\]*)(?:\\00)*"`)
