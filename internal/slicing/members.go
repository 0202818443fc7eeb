package slicing

import (
	"bytes"
	"regexp"
)

var (
	memberPointer   = regexp.MustCompile(`\{ i64, i64 \} \{ i64 ([^,]*), i64 (-?\d+) \}`)
	memberMade      = regexp.MustCompile(`insertvalue \{ i64, i64 \}`)
	memberIsVirtual = regexp.MustCompile(`(?m)^(  br i1 )%memptr\.isvirtual\d*,`)
	memberAdjusted  = regexp.MustCompile(`(?m)^(  %.* = getelementptr inbounds i8, ptr .*, i64 )%memptr\.adj\d*\b`)
)

// plainMembers writes into the text of a module which of the things that a pointer to a member function of C++
// may be none of it is. Clang makes such a pointer of the function, or of an odd number if it is virtual, and of
// the distance to the class that has it. If no constant in the program has an odd number, no call by such a
// pointer takes a virtual function, and if none has a distance, none of them moves the object.
func plainMembers(text []byte) []byte {
	if memberMade.Match(text) {
		return text
	}
	virtual, moved := false, false
	for _, found := range memberPointer.FindAllSubmatch(text, -1) {
		first := found[1]
		virtual = virtual || !bytes.HasPrefix(first, []byte("ptrtoint (ptr @")) && string(first) != "0"
		moved = moved || string(found[2]) != "0"
	}
	if !virtual {
		text = memberIsVirtual.ReplaceAll(text, []byte("${1}false,"))
	}
	if !moved {
		text = memberAdjusted.ReplaceAll(text, []byte("${1}0"))
	}
	return text
}
