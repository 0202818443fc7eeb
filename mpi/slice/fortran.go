package slice

import (
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// fortranMPI has the functions of MPI by the names that Fortran links them by.
var fortranMPI = func() map[string]string {
	table := map[string]string{}
	for _, f := range spec.Functions() {
		table[strings.ToLower(f.Name)+"_"] = f.Name
	}
	return table
}()

// fortranLetter returns what a function of MPI does with an argument that Fortran passes: the address of what
// C passes by value, and for 'i' and 'o' of a number of 4 bytes, which is read or written.
func fortranLetter(p *spec.Param, e *effect) byte {
	switch {
	case p.Type.Kind == cst.KindPointer && p.Form == spec.ByValue, p.Element().Class == "function":
		return letter(p, e)
	case p.Form == spec.ByValue && p.Type.Kind == cst.KindInt: // it may be one of addresses
		return 'r'
	case p.Form == spec.ByValue && p.Type.Kind != cst.KindArray:
		return 'i'
	}
	return letter(p, e)
}

// fortranArguments returns what a function of MPI does with the arguments that Fortran passes: those of C,
// the error code, and the lengths of texts.
func fortranArguments(f *spec.Function, e *effect) string {
	var letters []byte
	if f.Name != "MPI_Init" {
		for k := range f.Declared() {
			letters = append(letters, fortranLetter(&f.Declared()[k], e))
		}
	}
	if f.Name == "MPI_Wtime" || f.Name == "MPI_Wtick" {
		return "-"
	}
	return string(letters) + "o-"
}

// An ioForm is how a statement of Fortran that Flang begins by a call touches what is outside.
type ioForm struct {
	arguments string
	unit      int  // the argument that has the number of the unit, −1 if there is none
	writes    bool // to the unit
}

// ioBegins has the calls that begin such statements, by what is behind _FortranAioBegin.
var ioBegins = map[string]ioForm{
	"ExternalListOutput":           {"-r-", 0, true},
	"ExternalFormattedOutput":      {"r---r-", 2, true},
	"UnformattedOutput":            {"-r-", 0, true},
	"ExternalListInput":            {"-r-", 0, false},
	"ExternalFormattedInput":       {"r---r-", 2, false},
	"UnformattedInput":             {"-r-", 0, false},
	"InternalListOutput":           {"b-bbr-", -1, false},
	"InternalListInput":            {"b-bbr-", -1, false},
	"InternalFormattedOutput":      {"b-r--bbr-", -1, false},
	"InternalFormattedInput":       {"b-r--bbr-", -1, false},
	"OpenUnit":                     {"-r-", 0, false},
	"OpenNewUnit":                  {"r-", -1, false},
	"Close":                        {"-r-", 0, false},
	"Flush":                        {"-r-", 0, false},
	"Backspace":                    {"-r-", 0, false},
	"Endfile":                      {"-r-", 0, true},
	"Rewind":                       {"-r-", 0, false},
	"InquireUnit":                  {"-r-", -1, false},
	"InquireFile":                  {"r-r-", -1, false},
	"InquireIoLength":              {"r-", -1, false},
	"NonadvancingOutput":           {"-r-", 0, true},
	"ExternalNamelistInput":        {"-", -1, false},
	"InternalArrayListInput":       {"x", -1, false},
	"InternalArrayListOutput":      {"x", -1, false},
	"InternalArrayFormattedInput":  {"x", -1, false},
	"InternalArrayFormattedOutput": {"x", -1, false},
}

// creates reports whether an OPEN of Fortran says that it makes a file or is for writing, or a CLOSE that it
// removes one.
func creates(open *instruction) bool {
	return slices.ContainsFunc(open.users, func(i *instruction) bool {
		if i.callee.global != "@_FortranAioSetStatus" && i.callee.global != "@_FortranAioSetAction" ||
			len(i.operands) < 2 {
			return false
		}
		g, ok := i.block.of.module.named[i.operands[1].global].(*global)
		return !ok || !readingFile.MatchString(i.block.of.module.lines[g.line])
	})
}

var readingFile = regexp.MustCompile(`(?i)c"(old|read|unknown|scratch|keep) *"`)

// fortranRuntime returns the effect of a function of Flang's library, nil if it is not known.
func fortranRuntime(name string, i *instruction) *effect {
	name, ok := strings.CutPrefix(name, "_FortranA")
	if !ok {
		return nil
	}
	e := &effect{arguments: "-"}
	statement, isIO := strings.CutPrefix(name, "io")
	begin, begins := strings.CutPrefix(statement, "Begin")
	switch {
	case isIO && begins:
		form, known := ioBegins[begin]
		if !known {
			return nil
		}
		e.arguments, e.chain = form.arguments, true
		if strings.HasPrefix(begin, "Internal") {
			break
		}
		e.hidden, e.outputs = []string{"files"}, form.writes ||
			(strings.HasPrefix(begin, "Open") || begin == "Close") && creates(i)
		if form.unit < 0 || form.unit >= len(i.operands) {
			break
		}
		units := i.block.of.module.units
		unit, isNumber := form.number(i)
		e.hidden[0] = units.file(unit, isNumber)
		if form.writes && isNumber && unit == 6 && !units.none && !units.opened[6] {
			e.hidden[0], e.outputs = "console", false
		}
	case isIO && (strings.HasPrefix(statement, "OutputDescriptor") || statement == "OutputNamelist" ||
		statement == "OutputDerivedType"):
		e.arguments = "-v"
	case isIO && strings.HasPrefix(statement, "Output"), isIO && strings.HasPrefix(statement, "Set"):
		e.arguments = "-r-"
	case isIO && (strings.HasPrefix(statement, "InputDescriptor") || statement == "InputNamelist" ||
		statement == "InputDerivedType"):
		e.arguments = "-x"
	case isIO && (strings.HasPrefix(statement, "Input") || strings.HasPrefix(statement, "Inquire") ||
		strings.HasPrefix(statement, "Get")):
		e.arguments = "-b-"
	case isIO && (statement == "EndIoStatement" || statement == "EnableHandlers"):
	case strings.HasPrefix(name, "Stop") || name == "ProgramEndStatement" || name == "Abort" ||
		name == "Exit" || strings.HasPrefix(name, "ReportFatal"):
		e.arguments, e.ends, e.kept = "r", true, true
	case strings.HasPrefix(name, "FPow"), strings.HasPrefix(name, "cPow"), strings.HasPrefix(name, "Mod"),
		strings.HasPrefix(name, "Exponent"),
		strings.HasPrefix(name, "Fraction"), strings.HasPrefix(name, "Scale"),
		strings.HasPrefix(name, "Spacing"), strings.HasPrefix(name, "Nearest"),
		strings.HasPrefix(name, "CharacterCompareScalar"), strings.HasPrefix(name, "SetExponent"),
		name == "CpuTime", name == "LenTrim1", name == "Index1":
		e.arguments = "r"
	case readsShapes.MatchString(name):
		e.arguments = "r"
	case readsArrays.MatchString(name):
		e.arguments = "v"
	case makesArrays.MatchString(name):
		e.arguments, e.result = "wv", arrayResult
	case name == "Assign" && len(i.operands) > 1:
		named := *cPlusPlusEffect
		named.result = assignResult
		e = &named
	case isIO || strings.HasPrefix(name, "Pause"):
		return nil
	default:
		named := *cPlusPlusEffect
		if strings.HasPrefix(name, "Random") {
			named.hidden = []string{"random"}
		}
		e = &named
	}
	return e
}

// readsArrays matches functions of Flang's library that compute a number from arrays.
var readsArrays = regexp.MustCompile(`^((Sum|Product|Maxval|Minval|DotProduct|IAll|IAny|IParity)(Integer|Real)?\d+|` +
	`DotProductLogical|Count|Any|All|Parity|Norm2_\d+)$`)

// readsShapes matches those that look at where and how large arrays are, and not at their elements.
var readsShapes = regexp.MustCompile(`^(Size|SizeDim|LboundDim|IsContiguous|PointerIsAssociated(With)?)$`)

// makesArrays matches functions of Flang's library that make an array, or a text, of others: their first argument
// is where it is noted.
var makesArrays = regexp.MustCompile(`^(Matmul|Transpose|(Eo|C)shift(Vector)?|Pack|Unpack|Reshape|Spread|` +
	`Transfer(Size)?|Repeat|Trim|Adjust[lr]|(Sum|Product|Maxval|Minval|Maxloc|Minloc|Count|Any|All|Norm2|Parity|` +
	`IAll|IAny|IParity|Findloc)(Dim|Integer\d+|Real\d+)?)$`)
