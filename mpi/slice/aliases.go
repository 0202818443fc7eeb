package slice

import (
	"regexp"
	"strings"
)

const globalName = `@(?:"[^"]*"|[-a-zA-Z$._0-9]+)`

var (
	aliasLine = regexp.MustCompile(`^(` + globalName + `) = (?:[a-z_]+(?:\([^)]*\))? )*alias .*, ptr (` +
		globalName + `)$`)
	nameOrText = regexp.MustCompile(globalName + `|"[^"]*"`)
)

// withoutAliases returns the lines of a module with the names of functions and variables in place of their
// aliases, such as clang makes of constructors of C++; an alias has no line then. Lines that would become far
// longer stay, and so do aliases of what is no name.
func withoutAliases(lines []string) []string {
	targets := make(map[string]string)
	size := 1 << 20
	for _, line := range lines {
		size += 2 * len(line)
		if !strings.Contains(line, " alias ") {
			continue
		}
		if parts := aliasLine.FindStringSubmatch(line); parts != nil {
			targets[parts[1]] = parts[2]
		}
	}
	if len(targets) == 0 {
		return lines
	}
	replaced := make([]string, len(lines))
	for i, line := range lines {
		if parts := aliasLine.FindStringSubmatch(line); parts != nil && resolved(targets, parts[1]) != parts[1] {
			continue
		}
		replaced[i] = line
		if strings.Contains(line, "@") {
			replaced[i] = nameOrText.ReplaceAllStringFunc(line, func(name string) string {
				return resolved(targets, name)
			})
		}
		if size -= len(replaced[i]); size < 0 {
			return lines
		}
	}
	return replaced
}

// resolved returns what an alias of an alias stands for in the end, or the name itself if it is none, or
// stands for itself.
func resolved(targets map[string]string, name string) string {
	at := name
	for range len(targets) + 1 {
		next, ok := targets[at]
		if !ok {
			return at
		}
		at = next
	}
	return name
}
