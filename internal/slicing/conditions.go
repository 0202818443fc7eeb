package slicing

import (
	"bytes"
	"regexp"
	"slices"
)

var (
	conditionalBranch = regexp.MustCompile(`^ +cf\.cond_br %[\w#]+, (\^bb\d+).* loc\((#loc\d*)\)$`)
	conditional       = regexp.MustCompile(`^( +)(?:%[\w:]+ = )?fir\.if .*\{$`)
	place             = regexp.MustCompile(`loc\((#loc\d*)\)$`)
	label             = regexp.MustCompile(`^ +(\^bb\d+)(?:\(.*\))?:(.*)`)
	labels            = regexp.MustCompile(`\^bb\d+`)
)

// placeConditions writes into what Flang makes of a source on which lines conditions are. Flang puts those of
// IF where the statement before is: here they are put where the first statement is that they decide on.
func placeConditions(text []byte) []byte {
	lines := bytes.Split(text, []byte("\n"))
	end := len(lines)
	for n, line := range slices.Backward(lines) {
		if bytes.HasPrefix(line, []byte("  func.func ")) {
			placeInFunction(lines[n:end])
			end = n
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

func placeInFunction(lines [][]byte) {
	blocks := map[string]int{}
	isLoop := make([]bool, len(lines)) // of the branch of a block that another comes back to
	loop := false
	for n, line := range lines {
		if l := label.FindSubmatch(line); l != nil {
			blocks[string(l[1])] = n
			loop = slices.ContainsFunc(labels.FindAll(l[2], -1), func(from []byte) bool {
				at, before := blocks[string(from)]
				return string(from) != "^bb0" && (!before || at == n)
			})
		}
		isLoop[n] = loop
	}
	for n, line := range slices.Backward(lines) { // what is inside of others first
		if branch := conditionalBranch.FindSubmatch(line); branch != nil {
			if begin, ok := blocks[string(branch[1])]; ok && !isLoop[n] {
				length := slices.IndexFunc(lines[begin+1:], label.Match)
				if length < 0 {
					length = len(lines) - begin - 1
				}
				lines[n] = placeAtFirst(line, lines[begin+1:begin+1+length])
			}
			continue
		}
		if begin := conditional.FindSubmatch(line); begin != nil {
			indent := append(slices.Clone(begin[1]), '}')
			isEnd := func(line []byte) bool { return bytes.HasPrefix(line, indent) }
			inner := slices.IndexFunc(lines[n:], isEnd) // "} else {", or the end
			if inner < 0 {
				continue
			}
			last := n + inner
			for last < len(lines) && !(isEnd(lines[last]) && place.Match(lines[last])) {
				last++
			}
			if last < len(lines) {
				lines[last] = placeAtFirst(lines[last], lines[n+1:n+inner])
			}
		}
	}
}

// placeAtFirst returns a line with the place of the first of the lines inside that has another one.
func placeAtFirst(line []byte, inside [][]byte) []byte {
	own := place.FindSubmatchIndex(line)
	if own == nil {
		return line
	}
	for _, other := range inside {
		if at := place.FindSubmatch(other); at != nil && !bytes.Equal(at[1], line[own[2]:own[3]]) {
			return slices.Concat(line[:own[2]], at[1], line[own[3]:])
		}
	}
	return line
}
