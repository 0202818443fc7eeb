package slicing

import (
	"bytes"
	"fmt"
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

var (
	counted = regexp.MustCompile(`(?m)^(  (%\S+) = )atomicrmw (?:volatile )?(add|sub) (ptr [^,]+), ` +
		`(i\d+) ([^ ,]+) [a-z_]+(, align \d+)(.*)$`)
	ordered = regexp.MustCompile(`(?m)^(  (?:%\S+ = load|store)) atomic (.*?)(?: syncscope\("[^"]*"\))? ` +
		`(?:unordered|monotonic|acquire|release|seq_cst)(, align .*)$`)
	barriers = regexp.MustCompile(`(?m)^  fence .*$`)
)

// withoutAtomics writes into the text of a module that operations which threads share are plain ones: a program
// with threads is refused. The library of C++ counts the users of shared pointers so.
func withoutAtomics(text []byte) []byte {
	text = barriers.ReplaceAll(text, nil)
	text = ordered.ReplaceAll(text, []byte("$1 $2$3"))
	n := 0
	return counted.ReplaceAllFunc(text, func(line []byte) []byte {
		f := counted.FindSubmatch(line)
		n++
		return fmt.Appendf(nil, "%sload %s, %s%s%s\n  %%reprise.count%d = %s %s %s, %s%s\n"+
			"  store %s %%reprise.count%d, %s%s%s",
			f[1], f[5], f[4], f[7], f[8], n, f[3], f[5], f[2], f[6], f[8], f[5], n, f[4], f[7], f[8])
	})
}

var (
	setsErrors   = regexp.MustCompile(`@P?MPI_\w*(?:[Ee]rrhandler|ERRHANDLER)\w*\(`)
	returnsError = regexp.MustCompile(`(?m)^(  (%[-\w.$]+) = )(call|invoke) i32 (@P?MPI_\w+\(.*\))((?: #\d+)?)` +
		`(?:\n +to label (%\S+) unwind label %\S+?)?((?:, ![a-z]+ !\d+)*)$`)
)

// withoutStatus writes into the text of a module of C or C++ that functions of MPI return MPI_SUCCESS. An error
// ends the program unless it sets another error handler: then the text stays as it is.
func withoutStatus(text []byte) []byte {
	if setsErrors.Match(text) {
		return text
	}
	return returnsError.ReplaceAllFunc(text, func(call []byte) []byte {
		f := returnsError.FindSubmatch(call)
		made := fmt.Appendf(nil, "  %s.status = call i32 %s%s%s\n%sadd i32 0, 0%s", f[2], f[4], f[5], f[7], f[1], f[7])
		if len(f[6]) > 0 {
			made = fmt.Appendf(made, "\n  br label %s%s", f[6], f[7])
		}
		return made
	})
}
