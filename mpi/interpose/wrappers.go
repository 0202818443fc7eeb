package interpose

import (
	_ "embed" // for the sources of the interposer
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/header"
	"github.com/reprise-trace/reprise/mpi/spec"
)

var (
	//go:embed interposer/spool.c
	spoolSource string
	//go:embed interposer/lookup.c
	lookupSource string
	//go:embed interposer/lookups.c
	lookupsSource string
	//go:embed interposer/spares.c
	sparesSource string
	//go:embed interposer/segments.c
	segmentsSource string
	//go:embed interposer/lanes.c
	lanesSource string
	//go:embed interposer/cost.c
	costSource string
	//go:embed interposer/regions.c
	regionsSource string
	//go:embed interposer/job.c
	jobSource string
	//go:embed interposer/values.c
	valuesSource string
	//go:embed interposer/load.c
	loadSource string
	//go:embed interposer/annotations.c
	annotationsSource string
	//go:embed interposer/names.c
	namesSource string
	//go:embed interposer/questions.c
	questionsSource string
	//go:embed interposer/reads.c
	readsSource string
	//go:embed interposer/datatypes.c
	datatypesSource string
	//go:embed interposer/finalize.c
	finalizeSource string
	//go:embed reducer/tree.c
	treeSource string
	//go:embed interposer/fortran.c
	fortranSource string
	//go:embed interposer/wrapping.c
	wrappingSource string
	//go:embed interposer/sites.c
	sitesSource string
	//go:embed interposer/callers.c
	callersSource string
	//go:embed interposer/memory.c
	memorySource string
	//go:embed interposer/mappings.c
	mappingsSource string
	//go:embed interposer/devices.c
	devicesSource string
	//go:embed interposer/wrappers.tmpl
	wrappersSource string
)

var sources = func() *template.Template {
	t := template.Must(template.New("wrappers").Parse(wrappersSource))
	for name, source := range map[string]string{
		"spool":       spoolSource,
		"lookup":      lookupSource,
		"lookups":     lookupsSource,
		"spares":      sparesSource,
		"segments":    segmentsSource,
		"lanes":       lanesSource,
		"cost":        costSource,
		"regions":     regionsSource,
		"job":         jobSource,
		"values":      valuesSource,
		"load":        loadSource,
		"annotations": annotationsSource,
		"names":       namesSource,
		"questions":   questionsSource,
		"reads":       readsSource,
		"datatypes":   datatypesSource,
		"finalize":    finalizeSource,
		"tree":        treeSource,
		"fortran":     fortranSource,
		"wrapping":    wrappingSource,
		"sites":       sitesSource,
		"callers":     callersSource,
		"memory":      memorySource,
		"mappings":    mappingsSource,
		"devices":     devicesSource,
	} {
		template.Must(t.New(name).Parse(source))
	}
	return t
}()

// A wrapper is what the template needs to know of a function.
type wrapper struct {
	Number                      int
	Name                        string
	Result, Declared, Arguments string
	Handles                     []string // declarations of the handles among the arguments
	ResultWord                  string
	Always                      string // whether it is recorded even while recording is off
	Starts                      bool   // may be the first call of MPI
	Early                       bool   // may come before it
	Fortran                     bool   // may be called from the function of Fortran
	Fails                       bool   // returns an error code
	Statuses                    bool   // which may be that the statuses say what failed
	// which may be that there was no room for all of a message: the outputs are there all the same
	Truncates      bool
	Entries        []string // parameters of which the value before the call is needed after it
	Reads          string   // the arguments of take_reads, "" if the function completes no requests
	Tells          string   // what they have read, as a statement
	Own            *ownStatuses
	Before, After  *record
	First, Finally []string // around the call
	Begins         []string // what is done where the process begins to use MPI: in the time of the call, not behind it
	Sizes          []string // after it, to ask for sizes of datatypes
	Opens          []string // the same, to take note of datatypes of which no call tells the size
	OpensUnseen    bool     // even where the call is not recorded
}

// ownStatuses says of a function when it is given statuses of the interposer in place of those that the
// program does not ask for: where a receive has left open what it receives, or a file may end before all is
// read, only they tell.
type ownStatuses struct {
	Name, Ignored string // the parameter, and what the program passes
	Length        string // of an array, as an expression, "" for a single status
	Open          string // an expression for their use: NOT_OURS, OURS_TOLD or OURS_ASKED
}

// onlyC matches the functions that Fortran does not have, or calls only to convert
// handles.
var onlyC = regexp.MustCompile(`^MPI_T_|_(f|c|f08)2(c|f|f08)$`)

// A record is the statements that write one.
type record struct {
	Lengths []string
	words   []string // summands
	Puts    []string
}

// Words returns the expression for the most words of the record.
func (r *record) Words() string { return strings.Join(r.words, " + ") }

func newWrapper(number int, declared header.Function) wrapper {
	f := &functions[number]
	w := wrapper{Number: number, Name: f.Name, Result: declared.Result, ResultWord: "WORD(result_)", Always: "0"}
	// A header and the ticks, and after the call its result.
	w.Before, w.After = &record{words: []string{"2"}}, &record{words: []string{"3"}}
	var parameters, arguments []string
	for i := range f.Declared() {
		name, d := f.Params[i].Name, declared.Params[i]
		if d.Indirections() == 0 && spec.ClassOf(d.Base()) != "" {
			wide := "wide_" + name
			parameters, arguments = append(parameters, "intptr_t "+wide), append(arguments, wide)
			w.Handles = append(w.Handles, fmt.Sprintf("%s = (%s)%s;", d.Declare(name), d.Base(), wide))
			continue
		}
		parameters = append(parameters, d.Declare(name))
		arguments = append(arguments, name)
	}
	if spec.ClassOf(declared.Result) != "" {
		w.Result, w.ResultWord = "intptr_t", "WORD(("+declared.Result+")result_)"
	}
	if declared.Variadic {
		parameters = append(parameters, "...")
	}
	if parameters == nil {
		parameters = []string{"void"}
	}
	w.Declared, w.Arguments = strings.Join(parameters, ", "), strings.Join(arguments, ", ")
	w.Fortran = !onlyC.MatchString(f.Name)
	w.Fails = f.Result.Kind == 0
	if w.Fails {
		w.ResultWord = "error_"
	}
	if f.Result.Kind == cst.KindFloat {
		w.ResultWord = "float_word(result_)"
	}
	if made := f.Communicator(); made >= 0 {
		w.After.addGroup(&f.Params[made])
	}
	for i := range f.Params {
		p := &f.Params[i]
		switch {
		case p.Asked != "" && p.Direction == cst.In: // before the call, and whether it is recorded or not
			w.Handles = append(w.Handles, fmt.Sprintf("const char *asked_%s = %s;", p.Name, p.Asked))
			w.Before.add(p, header.Param{}, false, statusWords{errors: "0"})
			continue
		case p.Asked != "":
			w.After.ask(p)
			continue
		}
		if p.Before() {
			w.Before.add(p, declared.Params[i], false, statusWords{errors: "0"})
		}
		if p.After() {
			if p.Element().Kind == cst.KindStatus && p.Direction == cst.Out {
				w.Own = newOwnStatuses(f, p)
			}
			errors := "0"
			if p.Type.Kind != cst.KindStatus && p.Element().Kind == cst.KindStatus {
				w.Statuses, errors = true, "errors_"
			} else if w.Own != nil {
				w.Truncates = w.Fails
			}
			w.After.add(p, declared.Params[i], w.Fails, statusWords{errors, w.Own != nil})
		}
		if strings.Contains(p.Length+" "+p.Given, "entry_") {
			w.Entries = entriesOf(f)
		}
	}
	w.special(f)
	w.reuses(f)
	w.datatypes(f)
	return w
}

// datatypes adds what is to be known of datatypes of which no recorded call tells the size.
func (w *wrapper) datatypes(f *spec.Function) {
	if strings.HasPrefix(f.Name, "MPI_T_") {
		return // its datatypes are constants
	}
	told := spec.RoleOf(f.Name).TellsTypeSize()
	for i := range f.Declared() {
		p := &f.Params[i]
		if p.Element().Class != "datatype" {
			continue
		}
		length := "1"
		if p.Form == spec.Array {
			length = "at_least_none(" + p.Length + ")"
		}
		switch {
		case p.Direction == cst.In && p.Form == spec.ByValue:
			w.Sizes = append(w.Sizes, significant(f, p)+"ask_size(lane_, "+p.Name+");")
		case p.Direction == cst.In:
			w.Sizes = append(w.Sizes, fmt.Sprintf("%sask_sizes(lane_, %s, %s);", significant(f, p), length, p.Name))
		case p.Direction == cst.InOut && f.FreesObject():
			w.First, w.OpensUnseen = append(w.First, fmt.Sprintf("close_type(*%s);", p.Name)), true
		case p.Direction == cst.Out && p.Form == spec.Array:
			w.Opens = append(w.Opens, "if (result_ == MPI_SUCCESS && lane_)",
				fmt.Sprintf("\tfor (int64_t i_ = %s; i_-- > 0; )", length), "\t\topen_type("+p.Name+"[i_]);")
		case p.Direction == cst.Out && told:
			w.Opens, w.OpensUnseen = append(w.Opens, "if (result_ == MPI_SUCCESS)",
				fmt.Sprintf("\tlane_ ? close_type(*%s) : open_type(*%s);", p.Name, p.Name)), true
		case p.Direction == cst.Out:
			w.Opens, w.OpensUnseen = append(w.Opens, "if (result_ == MPI_SUCCESS)",
				fmt.Sprintf("\topen_type(*%s);", p.Name)), true
		}
	}
}

// significant returns the condition, as the beginning of a statement, for a datatype to be one that MPI has
// looked at.
func significant(f *spec.Function, p *spec.Param) string {
	condition := ""
	and := func(c string) {
		if condition != "" {
			condition += " && "
		}
		condition += c
	}
	if p.Given != "" {
		and("(" + p.Given + ")")
	}
	for i := range f.Params {
		q := &f.Params[i]
		in := strings.HasPrefix(p.Name, "send") && q.Name == "sendbuf" ||
			strings.HasPrefix(p.Name, "recv") && q.Name == "recvbuf"
		if in && q.Type.Kind == cst.KindPointer {
			and(q.Name + " != MPI_IN_PLACE")
		}
		if q.Name == "op" && strings.HasPrefix(p.Name, "origin_") {
			and("op != MPI_NO_OP")
		}
		if q.Name == "root" {
			and("root != MPI_PROC_NULL")
		}
	}
	if condition == "" {
		return ""
	}
	return "if (" + condition + ") "
}

// special adds what the functions do that tell or change what is recorded.
func (w *wrapper) special(f *spec.Function) {
	role := spec.RoleOf(f.Name)
	switch {
	case f.RecordedOff():
		w.Always = "1"
	case role.Requests == spec.Waits || role.Requests == spec.Tests:
		w.Always = "objects_pend()"
		w.completes(f)
	case role.Requests == spec.Releases:
		w.First = append(w.First, "if (reads_pend())", "\tforget_read(request);")
	}
	if f.Pends() {
		w.First = append(w.First, "note_pending_object();")
	}
	if slices.ContainsFunc(f.Params, func(p spec.Param) bool {
		return p.Direction == cst.Out && p.Type.Class == "message"
	}) {
		w.First = append(w.First, "note_message();")
	}
	w.Starts, w.Early = role.Begins != "", role.Early
	if source, tag := asked(f); source != "" {
		w.First = append(w.First, fmt.Sprintf("note_wildcard(%s, %s);", source, tag))
	}
	succeeded := func(statement string) []string { return []string{"if (result_ == MPI_SUCCESS)", "\t" + statement} }
	switch {
	case role.Class == spec.Access && role.Reads && role.Nonblocking:
		w.Finally = []string{"if (lane_ && result_ == MPI_SUCCESS)", "\tnote_read(*request);"}
	case role.Begins == "world":
		w.Begins = append(succeeded("initialized_world();"), succeeded("prepare_merge();")...)
	case role.Begins == "session":
		w.Begins = append(succeeded("keep_session(*session);"), succeeded("initialized_session(*session);")...)
	case role.EndsSession:
		w.First = append(w.First, "forget_session(*session);")
	case role.Ends:
		w.First = append(w.First, "atomic_store(&running, 0);", "if (lane_)", "\tcalibrate(lane_);")
	case role.Switches:
		if w.Finally = []string{"control(level, asked_name);"}; w.Fails && len(f.Declared()) > 1 {
			w.Finally = succeeded("control_by_info(key, value);")
		}
	}
}

// reuses forgets a read when its request comes back as that of another operation: a library has
// completed the read by PMPI.
func (w *wrapper) reuses(f *spec.Function) {
	made := func(p spec.Param) bool { return p.Element().Class == "request" && p.Direction == cst.Out }
	if i := slices.IndexFunc(f.Params, made); i >= 0 {
		forget := []string{"if (reads_pend() && result_ == MPI_SUCCESS)", "\tforget_read(" + f.Params[i].Name + ");"}
		w.Finally = append(forget, w.Finally...)
	}
}

// completes adds what a function does that completes requests, of which some may be of reads of files.
func (w *wrapper) completes(f *spec.Function) {
	n, requests, told, indices, status, condition := "1", "request", "1", "NULL", "status", ""
	for i := range f.Params {
		switch p := &f.Params[i]; p.Name {
		case "array_of_requests":
			n, requests, told = p.Length, p.Name, p.Length
		case "index":
			told, indices = "1", p.Name
		case "array_of_indices":
			told, indices = p.Length, p.Name
		case "array_of_statuses":
			status = p.Name
		case "flag":
			condition = "if (*flag) "
		}
	}
	w.Reads = n + ", " + requests
	w.Tells = fmt.Sprintf("%stell_reads(lane_, &reads_, %s, %s, %s);", condition, told, indices, status)
}

// asked returns the parameters by which a function asks for a message, "" if it does not.
func asked(f *spec.Function) (source, tag string) {
	for i := range f.Params {
		switch p := &f.Params[i]; {
		case p.Type.Kind == cst.KindRank && p.Name == "source":
			source = p.Name
		case p.Type.Kind == cst.KindTag && (p.Name == "tag" || p.Name == "recvtag"):
			tag = p.Name
		}
	}
	if source == "" || tag == "" {
		return "", ""
	}
	return source, tag
}

// newOwnStatuses returns when a function is given statuses of the interposer, nil if never.
func newOwnStatuses(f *spec.Function, p *spec.Param) *ownStatuses {
	o := &ownStatuses{Name: p.Name, Ignored: p.Ignored()[0], Open: "any_wildcard() ? OURS_TOLD : NOT_OURS"}
	source, tag := asked(f)
	requests := slices.IndexFunc(f.Params, func(q spec.Param) bool {
		return q.Element().Class == "request" && q.Before()
	})
	switch role := spec.RoleOf(f.Name); {
	case source != "":
		o.Open = fmt.Sprintf("is_wildcard(%s, %s) ? OURS_TOLD : NOT_OURS", source, tag)
	case role.Class == spec.Access && role.Reads && requests < 0:
		o.Open = "OURS_TOLD" // it says whether the file ended before
	case role.Requests == spec.Waits || role.Requests == spec.Tests:
		o.Open = "ours(&reads_)"
	case requests < 0 && role.Receives == nil:
		return nil // the status of a file, or of what has no message
	}
	if p.Form == spec.Array {
		o.Length = f.Params[requests].Length
	}
	return o
}

// entriesOf returns the numbers that a function reads and writes.
func entriesOf(f *spec.Function) []string {
	var names []string
	for i := range f.Params {
		if p := &f.Params[i]; p.Form == spec.Indirect && p.Direction == cst.InOut && p.Type.Kind == cst.KindInt {
			names = append(names, p.Name)
		}
	}
	return names
}

// addGroup adds the rank and the size of a communicator that the function has made.
func (r *record) addGroup(made *spec.Param) {
	r.Lengths = append(r.Lengths, "int64_t group_[2] = {-1, 0};",
		fmt.Sprintf("if (!(flags_ & FAILED)) ask_group(*%s, group_);", made.Name))
	r.words = append(r.words, "2")
	r.Puts = append(r.Puts, "if (!(flags_ & FAILED)) { *p_++ = WORD(group_[0]); *p_++ = WORD(group_[1]); }")
}

// ask adds the statements for a value that MPI is asked for.
func (r *record) ask(p *spec.Param) {
	given := "!(flags_ & FAILED) && (" + p.Given + ")"
	if p.Form == spec.Array {
		r.Lengths = append(r.Lengths,
			fmt.Sprintf("int *asked_%s __attribute__((cleanup(discard))) = %s ? %s : NULL;", p.Name, given, p.Asked))
	} else {
		r.Lengths = append(r.Lengths, fmt.Sprintf("int64_t asked_%s[1] = {%s ? %s : 0};", p.Name, given, p.Asked))
	}
	r.add(p, header.Param{}, true, statusWords{errors: "0"})
}

// statusWords says what is written of statuses.
type statusWords struct {
	errors string // whether they have error codes, as an expression
	own    bool   // they may be those of the interposer
}

// add adds the statements for one argument. Where the function may fail, what it
// only writes is left out if it did.
func (r *record) add(p *spec.Param, d header.Param, fails bool, s statusWords) {
	put := putOf(p, d, s)
	if fails && p.Direction != cst.InOut {
		put = "if (!(flags_ & FAILED)) { " + put + " }"
	}
	r.Puts = append(r.Puts, put)
	r.words = append(r.words, "1")
	if !p.Counted() {
		return
	}
	length, words := lengthOf(p, d)
	if fails && p.Direction != cst.InOut {
		length = "flags_ & FAILED ? UNUSED : " + length
	}
	r.Lengths = append(r.Lengths, fmt.Sprintf("int64_t n_%s = %s;", p.Name, length))
	r.words = append(r.words, words)
}

// argument returns the expression for what the argument points to.
func argumentOf(p *spec.Param, d header.Param) string {
	switch {
	case p.Asked != "":
		return "asked_" + p.Name
	case p.Form == spec.Indirect && d.Base() == "void":
		return "((void **)" + p.Name + ")"
	case p.Form == spec.Texts && d.Indirections() == 3:
		return "(" + p.Name + " ? *" + p.Name + " : NULL)"
	case p.Form == spec.Array && d.Indirections() == 2:
		return "((const " + d.Base() + " *)" + p.Name + ")"
	}
	return p.Name
}

// length returns the expressions for the length of a value, which is negative for
// one that is not there, and for the words it takes besides its length.
func lengthOf(p *spec.Param, d header.Param) (length, words string) {
	name := argumentOf(p, d)
	n := "n_" + p.Name
	switch p.Form {
	case spec.Text:
		length, words = "length_of("+name+")", "text_words("+n+")"
		if p.Length != "" {
			length = "length_within(" + name + ", " + p.Length + ")"
		}
	case spec.Texts:
		length, words = "at_least_none("+p.Length+")", "texts_words("+n+", (char *const *)"+name+")"
	case spec.TextLists:
		length, words = "at_least_none("+p.Length+")", "lists_words("+n+", (char **const *)"+name+")"
	case spec.Array:
		length, words = "at_least_none("+p.Length+")", "words_of("+n+")"
	default:
		length, words = "1", "words_of("+n+")"
	}
	if p.Element().Kind == cst.KindStatus {
		words = "3 * " + words
	}
	if p.Form != spec.Text {
		length = "!" + name + " ? ABSENT : " + length
	}
	length = ignoredOf(p) + length
	if p.Given != "" {
		length = "!(" + p.Given + ") ? UNUSED : " + length
	}
	return length, words
}

// ignored returns the beginning of the expression for a length: whether the
// argument is one of the constants that stand for no array.
func ignoredOf(p *spec.Param) string {
	is := func(constant string) string { return p.Name + " == " + constant }
	switch constants := p.Ignored(); len(constants) {
	case 0:
		return ""
	case 1:
		return is(constants[0]) + " ? IGNORED : "
	default:
		return p.Name + " && " + is(constants[0]) + " ? IGNORED : " + p.Name + " && " + is(constants[1]) + " ? EMPTY : "
	}
}

// put returns the statement that writes the value.
func putOf(p *spec.Param, d header.Param, s statusWords) string {
	name, n := argumentOf(p, d), "n_"+p.Name
	switch {
	case p.Form == spec.Text:
		return fmt.Sprintf("p_ = put_text(p_, %s, %s);", n, name)
	case p.Form == spec.Texts:
		return fmt.Sprintf("p_ = put_texts(p_, %s, (char *const *)%s);", n, name)
	case p.Form == spec.TextLists:
		return fmt.Sprintf("p_ = put_lists(p_, %s, (char **const *)%s);", n, name)
	case p.Element().Kind == cst.KindStatus:
		own := "0"
		if s.own {
			own = "own_"
		}
		return fmt.Sprintf("p_ = put_statuses(p_, %s, %s, %s, %s);", n, name, s.errors, own)
	case p.Counted():
		return fmt.Sprintf("PUT_COUNTED(p_, %s, %s);", n, name)
	case p.Form == spec.Indirect:
		return fmt.Sprintf("*p_++ = %s ? WORD(*%s) : 0;", name, name)
	}
	return fmt.Sprintf("*p_++ = WORD(%s);", name)
}
