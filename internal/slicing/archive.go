package slicing

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// A member is a file in an archive.
type member struct {
	name string
	data []byte
}

// readArchive returns the members of an archive.
func readArchive(data []byte) (members []member, err error) {
	rest, ok := bytes.CutPrefix(data, []byte("!<arch>\n"))
	if !ok {
		return nil, errors.New("an archive that has its members elsewhere is not sliced: make it without T")
	}
	var longNames string
	for len(rest) > 0 {
		if len(rest) < 60 {
			return nil, errors.New("the archive is damaged")
		}
		name := strings.TrimSpace(string(rest[:16]))
		size, err := strconv.Atoi(strings.TrimSpace(string(rest[48:58])))
		if rest = rest[60:]; err != nil || size < 0 || size > len(rest) {
			return nil, errors.New("the archive is damaged")
		}
		content := rest[:size]
		rest = rest[min(len(rest), size+size%2):]
		switch name {
		case "/", "/SYM64/":
			continue
		case "//":
			longNames = string(content)
			continue
		}
		if at, err := strconv.Atoi(strings.TrimPrefix(name, "/")); err == nil && name[0] == '/' && at >= 0 &&
			at < len(longNames) {
			name, _, _ = strings.Cut(longNames[at:], "\n")
		}
		members = append(members, member{strings.TrimSuffix(name, "/"), content})
	}
	return members, nil
}
