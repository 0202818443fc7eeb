package slice

import (
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// An effect is what a function does that is not of the module.
type effect struct {
	name string

	// arguments has a letter for each: '-' a value, 'r' memory that is read, 'w' memory that is written, 'b'
	// both, 'n' numbers that are read and written, 'f' a file of the C library, 'i' and 'o' 4 bytes that are
	// read or written, 'p' an object that is read and written, 'v' memory that is read with all that it points
	// to, 'x' that is also written, 'h' a handle that is read and written, 'c' a function that is called with
	// what the others point to. The last one stands for all that follow.
	arguments string
	result    result
	hidden    []string // state of the C library that it reads and writes
	copies    bool     // what the second argument points to to where the first one does
	ends      bool     // the program
	kept      bool     // always
	outputs   bool     // it writes to files
	frees     bool
	chain     bool // what uses the result is kept if it is: the parts of a statement of Fortran
	fortran   bool
	unknown   bool // it may do anything with all that it can reach
	confined  bool // it may do anything with what its arguments reach, and nothing else
	mpi       *spec.Function
	role      *spec.Role
	group     string // of operations that are executed together, empty for what always is
	open      bool   // what it returns depends on which messages came first
}

// A result says what a function returns.
type result uint8

const (
	valueResult result = iota
	newResult          // memory that is new
	firstResult        // somewhere in what its first argument points to
	secondResult
	outsideResult
	argumentsResult // what the program is started with
	filesResult
	errnoResult
	linkedResult  // the nodes that its arguments have links to
	textResult    // a part of a text, see memory.retext
	reachedResult // what its arguments reach, or memory that is new
	arrayResult   // none: memory that is new is noted in its first argument
	assignResult  // none: see memory.assign
)

// cPlusPlusEffect is that of functions of the libraries of C++ and of Fortran that are not known otherwise.
var cPlusPlusEffect = &effect{name: "a function of the library of the language", arguments: "x", result: reachedResult,
	confined: true}

var unknownEffect = &effect{name: "a function that is not known", arguments: "b", result: outsideResult,
	unknown: true, kept: true}

// library has the effects of the functions of the C library, by names that are separated by spaces.
var library = func() map[string]*effect {
	table := map[string]*effect{}
	add := func(names string, e effect) {
		for name := range strings.FieldsSeq(names) {
			named := e
			named.name = name
			table[name] = &named
		}
	}
	add("acos asin atan atan2 ceil cos cosh exp exp2 expm1 fabs floor fma fmax fmin fmod hypot ldexp log log10 log1p log2 pow rint round "+
		"lround llround lrint llrint nearbyint copysign cbrt erf erfc tgamma scalbn scalbln remainder fdim logb ilogb nextafter "+
		"sin sinh sqrt tan tanh trunc acosf asinf atanf atan2f ceilf cosf coshf expf fabsf floorf fmodf hypotf logf log10f powf roundf "+
		"sinf sinhf sqrtf tanf tanhf truncf fmaxf fminf sqrtl fabsl powl expl logl sinl cosl floorl ceill acosh asinh atanh "+
		"abs labs llabs toupper tolower isalpha isdigit isspace isupper islower isalnum isprint ispunct "+
		"usleep sleep sched_yield getpid getppid clock sysconf", effect{arguments: "-"})
	add("frexp modf sincos frexpf modff", effect{arguments: "-w"})
	add("time gettimeofday clock_gettime nanosleep times getrusage uname gethostname", effect{arguments: "bw"})
	add("malloc", effect{arguments: "-", result: newResult})
	add("calloc aligned_alloc memalign valloc", effect{arguments: "-", result: newResult})
	add("free", effect{arguments: "-", frees: true})
	add("strlen strnlen atoi atol atoll atof", effect{arguments: "r-"})
	add("strtol strtoll strtoul strtoull strtod strtof", effect{arguments: "rw-", result: firstResult})
	add("strcmp strncmp strcasecmp strncasecmp memcmp", effect{arguments: "rr-"})
	add("strchr strrchr strstr memchr strpbrk", effect{arguments: "rr-", result: firstResult})
	add("strspn strcspn", effect{arguments: "rr"})
	add("memcpy memmove mempcpy strcpy strncpy strcat strncat stpcpy",
		effect{arguments: "br-", result: firstResult, copies: true})
	add("memset bzero", effect{arguments: "w-", result: firstResult})
	add("strdup strndup", effect{arguments: "r-", result: newResult})
	add("rand random srand srandom drand48 lrand48 mrand48 srand48", effect{arguments: "-", hidden: []string{"random"}})
	add("rand_r erand48 nrand48", effect{arguments: "b"})
	add("getenv", effect{arguments: "r", result: argumentsResult})
	add("__errno_location", effect{result: errnoResult})
	add("__ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc", effect{result: outsideResult})
	add("exit _exit _Exit abort __assert_fail __stack_chk_fail", effect{arguments: "r", ends: true, kept: true})
	add("vprintf", effect{arguments: "rv", hidden: []string{"console"}})
	add("vfprintf", effect{arguments: "frv", outputs: true})
	add("vsprintf", effect{arguments: "wrv"})
	add("vsnprintf", effect{arguments: "w-rv"})
	add("printf puts putchar perror", effect{arguments: "r", hidden: []string{"console"}})
	add("sprintf", effect{arguments: "wr"})
	add("snprintf", effect{arguments: "w-r"})
	add("fprintf", effect{arguments: "fr", outputs: true})
	add("fputs", effect{arguments: "rf", outputs: true})
	add("fputc putc", effect{arguments: "-f", outputs: true})
	add("fflush", effect{arguments: "f"})
	add("fwrite", effect{arguments: "r--f", outputs: true})
	add("sscanf", effect{arguments: "rrw"})
	add("scanf", effect{arguments: "rw", hidden: []string{"files"}})
	add("getchar", effect{hidden: []string{"files"}})
	add("fscanf", effect{arguments: "frw"})
	add("fread", effect{arguments: "w--f"})
	add("fgets", effect{arguments: "w-f", result: firstResult})
	add("fgetc getc feof ferror ftell rewind fclose", effect{arguments: "f"})
	add("fseek", effect{arguments: "f--"})
	add("fopen", effect{arguments: "rr", result: filesResult, hidden: []string{"files"}})
	add("access", effect{arguments: "r-", hidden: []string{"files"}})
	add("remove rename mkdir rmdir unlink", effect{arguments: "r", outputs: true, hidden: []string{"files"}})
	// new of C++, and delete
	add("_Znwm _Znam _ZnwmSt11align_val_t _ZnamSt11align_val_t _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t",
		effect{arguments: "-", result: newResult})
	add("_ZdlPv _ZdlPvm _ZdaPv _ZdaPvm _ZdlPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdaPvSt11align_val_t "+
		"_ZdlPvRKSt9nothrow_t _ZdaPvRKSt9nothrow_t",
		effect{arguments: "-", frees: true})
	add("__cxa_guard_acquire __cxa_guard_release", effect{arguments: "b"})
	add("__cxa_pure_virtual __cxa_deleted_virtual", effect{}) // no program calls it
	add("_ZSt9terminatev _ZSt17__throw_bad_allocv _ZSt28__throw_bad_array_new_lengthv _ZSt20__throw_length_errorPKc "+
		"_ZSt19__throw_logic_errorPKc _ZSt20__throw_out_of_rangePKc _ZSt24__throw_out_of_range_fmtPKcz _ZSt25__throw_bad_function_callv", effect{arguments: "r", ends: true, kept: true})
	// output of values
	add("_ZNSolsEi _ZNSolsEj _ZNSolsEl _ZNSolsEm _ZNSolsEx _ZNSolsEy _ZNSolsEd _ZNSolsEf _ZNSolsEb "+
		"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_c", effect{arguments: "b-", result: firstResult})
	add("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", effect{arguments: "br", result: firstResult})
	add("_ZNSolsEPFRSoS_E", effect{arguments: "bc", result: firstResult})
	add("__dynamic_cast", effect{arguments: "r", result: firstResult})
	add("__cxa_atexit", effect{arguments: "c-", kept: true})
	add("_ZSt18_Rb_tree_incrementPSt18_Rb_tree_node_base _ZSt18_Rb_tree_incrementPKSt18_Rb_tree_node_base "+
		"_ZSt18_Rb_tree_decrementPSt18_Rb_tree_node_base _ZSt18_Rb_tree_decrementPKSt18_Rb_tree_node_base",
		effect{result: linkedResult})
	add("_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_ "+
		"_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_ _ZNSt8__detail15_List_node_base7_M_hookEPS0_ "+
		"_ZNSt8__detail15_List_node_base9_M_unhookEv _ZNSt8__detail15_List_node_base11_M_transferEPS0_S1_ "+
		"_ZNSt8__detail15_List_node_base4swapERS0_S1_ _ZNSt8__detail15_List_node_base10_M_reverseEv",
		effect{result: linkedResult, copies: true})
	add("_ZSt11_Hash_bytesPKvmm", effect{arguments: "r-"})
	add("_ZNKSt8__detail20_Prime_rehash_policy14_M_need_rehashEmmm "+
		"_ZNKSt8__detail20_Prime_rehash_policy11_M_next_bktEm", effect{arguments: "p-"})
	add("qsort", effect{arguments: "b--c"})
	add("bsearch", effect{arguments: "rr--c", result: secondResult})
	return table
}()

// refused has what cannot be analyzed, by the beginning of the name.
var refused = map[string]string{
	"pthread_": "threads", "__kmpc_": "threads of OpenMP", "GOMP_": "threads of OpenMP",
	"omp_": "threads of OpenMP", "thrd_": "threads",
	"setjmp": "long jumps", "_setjmp": "long jumps", "sigsetjmp": "long jumps", "__sigsetjmp": "long jumps",
	"longjmp":    "long jumps",
	"siglongjmp": "long jumps", "signal": "signals", "sigaction": "signals",
	"fork": "processes that are forked", "vfork": "processes that are forked",
	"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE": "threads",
	"sigset": "signals", "bsd_signal": "signals", "__sysv_signal": "signals", "timer_create": "signals",
	"getcontext": "contexts", "makecontext": "contexts", "swapcontext": "contexts", "setcontext": "contexts",
	"shm_open": "memory that processes share", "shmget": "memory that processes share",
	"mmap":     "memory that processes may share",
	"llvm.eh.": "exceptions", "__cxa_throw": "exceptions", "__cxa_rethrow": "exceptions",
	"__cxa_begin_catch":        "exceptions",
	"__cxa_allocate_exception": "exceptions", "dlopen": "libraries that are loaded later",
}

var pureIntrinsic = regexp.MustCompile(
	`^llvm\.(fabs|sqrt|fmuladd|fma|floor|ceil|trunc|round|rint|nearbyint|copysign|sin|cos|exp|exp2|log|log2|log10|pow|powi|` +
		`minnum|maxnum|minimum|maximum|smin|smax|umin|umax|abs|bswap|ctpop|ctlz|cttz|fshl|fshr|sadd|uadd|ssub|usub|smul|umul|objectsize|is|expect|vector|bitreverse|lround|llround|lrint|llrint)\.`)

// storesCount matches formats by which printf may store how much it has printed.
var storesCount = regexp.MustCompile(`%[-+ #0-9.*']*[hlqjzt]*n`)

// effectOfName returns the effect of a function that is called.
func effectOfName(name string, i *instruction) (*effect, error) {
	name = strings.TrimPrefix(name, "@")
	if i.effect != nil && i.effectName == name {
		return i.effect, nil
	}
	for beginning, what := range refused {
		if strings.HasPrefix(name, beginning) && (strings.HasSuffix(beginning, "_") ||
			strings.HasSuffix(beginning, ".") || name == beginning) {
			return unknownEffect, i.errorf("%s: %s are not supported", name, what)
		}
	}
	e := library[strings.TrimPrefix(name, "__isoc99_")]
	switch {
	case strings.HasPrefix(name, "MPI_") || strings.HasPrefix(name, "PMPI_"):
		var err error
		if e, err = effectOfMPI(name, i); err != nil {
			return unknownEffect, err
		}
	case fortranMPI[name] != "":
		var err error
		if e, err = effectOfMPI(fortranMPI[name], i); err != nil {
			return unknownEffect, err
		}
		e.fortran, e.arguments = true, fortranArguments(e.mpi, e)
	case strings.HasPrefix(name, "llvm."):
		e = intrinsic(name, i)
	case strings.HasPrefix(name, probe):
		e = &effect{name: name, arguments: "-"}
	case strings.HasPrefix(name, "_FortranA"):
		if e = fortranRuntime(name, i); e != nil {
			e.name = name
		}
	}
	if name == "realloc" {
		e = &effect{name: name, arguments: "r-", result: newResult}
	}
	if e == nil && textMember.MatchString(name) {
		e = &effect{name: name, arguments: "r", result: textResult, copies: !strings.HasPrefix(name, "_ZNK")}
	}
	if e == nil && readsNumber.MatchString(name) {
		named := *cPlusPlusEffect
		named.name, named.arguments = name, "xw"
		e = &named
	}
	if e == nil && writesStream.MatchString(name) {
		e = &effect{name: name, arguments: "bv", result: firstResult}
	}
	if e == nil && allocator.MatchString(name) {
		e = &effect{name: name, arguments: "-"}
	}
	if e == nil && standardCPlusPlus.MatchString(name) && !outsideWorld.MatchString(name) {
		named := *cPlusPlusEffect
		named.name = name
		named.ends = i.neverReturns()
		named.kept = named.ends
		e = &named
	}
	if e == nil {
		named := *unknownEffect
		named.name, named.outputs = name, outputsFile.MatchString(name)
		e = &named
	}
	if name == "fopen" && !opensForReading(i) {
		writing := *e
		writing.outputs = true
		e = &writing
	}
	if strings.HasSuffix(name, "scanf") {
		if readsAddresses(i) {
			return unknownEffect, i.errorf("%s: addresses in text are not supported", name)
		}
		if mayAllocate(i, strings.TrimPrefix(name, "__isoc99_")) {
			allocating := *unknownEffect
			allocating.name = strings.TrimPrefix(name, "__isoc99_")
			e = &allocating
		}
	}
	if strings.HasSuffix(name, "printf") && name[0] != 'v' && !e.unknown && !constantFormat(e, i) {
		all := *e
		all.arguments = "b"
		if e.name == "fprintf" {
			all.arguments = "fb"
		}
		e = &all
	}
	i.effect, i.effectName = e, name
	return e, nil
}

// outputsFile matches functions that are not known otherwise and may write to a file, of Flang's library and
// of that of C++.
var outputsFile = regexp.MustCompile(`^_FortranAio.*Output|basic_(o?fstream|filebuf)`)

// opensForReading reports whether the mode of a call of fopen is known to be one for reading.
func opensForReading(i *instruction) bool {
	if len(i.operands) < 2 {
		return false
	}
	g, ok := i.block.of.module.named[i.operands[1].global].(*global)
	return ok && g.constant && !g.external && readingMode.MatchString(i.block.of.module.lines[g.line])
}

var readingMode = regexp.MustCompile(`c"rb?\\00"`)

func intrinsic(name string, i *instruction) *effect {
	switch {
	case strings.HasPrefix(name, "llvm.memcpy.") || strings.HasPrefix(name, "llvm.memmove."):
		return &effect{name: name, arguments: "wr-", copies: true}
	case strings.HasPrefix(name, "llvm.memset."):
		return &effect{name: name, arguments: "w-"}
	case name == "llvm.va_start":
		return &effect{name: name, arguments: "w"}
	case name == "llvm.va_copy":
		return &effect{name: name, arguments: "wr", copies: true}
	case name == "llvm.stacksave":
		return &effect{name: name, kept: true}
	case name == "llvm.stackrestore":
		return &effect{name: name, arguments: "-", kept: true}
	case strings.HasPrefix(name, "llvm.dbg.") || strings.HasPrefix(name, "llvm.lifetime.") || name == "llvm.assume" ||
		name == "llvm.donothing" || name == "llvm.va_end" || strings.HasPrefix(name, "llvm.prefetch") ||
		pureIntrinsic.MatchString(name):
		return &effect{name: name, arguments: "-"}
	case name == "llvm.trap" && strings.HasSuffix(i.block.of.name, "D0Ev"): // of an abstract class: nobody calls it
		return &effect{name: name}
	case name == "llvm.trap":
		return &effect{name: name, ends: true, kept: true}
	}
	return nil
}

// readsAddresses reports whether a format of a call of scanf or its like has addresses.
func readsAddresses(i *instruction) bool {
	return slices.ContainsFunc(i.operands, func(v value) bool {
		g, ok := i.block.of.module.named[v.global].(*global)
		return ok && g.constant && readsAddress.MatchString(i.block.of.module.lines[g.line])
	})
}

var readsAddress = regexp.MustCompile(`%[0-9*]*p`)

// mayAllocate reports whether a call of scanf or its like may store addresses of memory that it allocates: if
// its format is not a constant, too.
func mayAllocate(i *instruction, name string) bool {
	at := 1
	if name == "scanf" {
		at = 0
	}
	if at >= len(i.operands) {
		return true
	}
	g, ok := i.block.of.module.named[i.operands[at].global].(*global)
	return !ok || !g.constant || g.external || allocatesText.MatchString(i.block.of.module.lines[g.line])
}

var allocatesText = regexp.MustCompile(`%[0-9*']*m`)

// constantFormat reports whether the format of a call of printf or its like is known not to store anything.
func constantFormat(e *effect, i *instruction) bool {
	at := strings.Index(e.arguments, "r")
	if e.name == "snprintf" {
		at = 2
	}
	if e.name == "fprintf" || e.name == "sprintf" {
		at = 1
	}
	if at < 0 || at >= len(i.operands) {
		return false
	}
	g, ok := i.block.of.module.named[i.operands[at].global].(*global)
	return ok && g.constant && !g.external && !storesCount.MatchString(i.block.of.module.lines[g.line])
}

// local has the functions that are not known otherwise, and do not communicate.
var local = strings.Fields(
	"strtok strtok_r strsep strerror setenv putenv unsetenv getopt getopt_long getopt_long_only setvbuf atexit posix_memalign " +
		"reallocarray asprintf vasprintf localtime gmtime ctime asctime strftime mktime difftime setlocale localeconv basename dirname realpath " +
		"getcwd secure_getenv sched_getaffinity sched_setaffinity sched_getcpu getpagesize getrlimit setrlimit feclearexcept fetestexcept fesetround fegetround " +
		"feenableexcept fedisableexcept mallopt malloc_usable_size initstate setstate srandom_r random_r drand48_r srand48_r strcasestr strlcpy strlcat memccpy rawmemchr " +
		"scanf sscanf fscanf strcoll strxfrm div ldiv lldiv remquo lgamma lgamma_r gamma j0 j1 jn y0 y1 yn wcslen mbstowcs wcstombs towupper towlower qsort_r lsearch lfind hsearch tsearch tfind")

// standardCPlusPlus matches the functions of the library of C++.
var standardCPlusPlus = regexp.MustCompile(`^(_ZNK?S[tabdisio]|_ZSt|_ZThn\d+_NSt|_ZTv0_n\d+_NSt)`)

// readsNumber matches the functions that read a number from a stream into their second argument.
var readsNumber = regexp.MustCompile(`^_ZNSi(rsER|10_M_extractI)\w`)

// neverReturns reports whether nothing follows a call.
func (i *instruction) neverReturns() bool {
	return i.block.last().op == "unreachable" && i.position+2 == len(i.block.instructions)
}

// writesStream matches the functions that write what their other arguments are to a stream, the first one.
var writesStream = regexp.MustCompile(
	`^(_ZStls\w*basic_ostream|_ZSt(4endl|5flush|4ends|16__ostream_insert)I|_ZNSo(3put|5write|5flush|9_M_insert|ls))`)

// textMember matches the functions of std::string and its like, allocator those of std::allocator that do nothing.
var (
	textMember = regexp.MustCompile(`^_ZNK?St7__cxx1112basic_string`)
	allocator  = regexp.MustCompile(`^_ZNSaI\w+E[CD][12]E`)
)

// outsideWorld matches those of them that touch more than what their arguments reach: files, threads and what
// is called later.
var outsideWorld = regexp.MustCompile(`f(stream|ilebuf)|filesystem|thread|mutex|condition_variable|future|async|` +
	`set_(new_handler|terminate|unexpected)|current_exception|rethrow_exception|nested_exception|quick_exit`)

// communicates reports whether a function that is not known may be one by which processes wait for each other
// or learn something.
func (e *effect) communicates() bool {
	return e.unknown && !strings.HasPrefix(e.name, "_FortranA") && !strings.HasPrefix(e.name, "llvm.") &&
		!slices.Contains(local, e.name) && !standardCPlusPlus.MatchString(e.name) &&
		!strings.HasPrefix(e.name, "__cxa_")
}

// argument returns what a function does with an argument.
func (e *effect) argument(k int) byte {
	if len(e.arguments) == 0 {
		return '-'
	}
	return e.arguments[min(k, len(e.arguments)-1)]
}

// effectOfMPI returns the effect of a function of MPI.
func effectOfMPI(name string, i *instruction) (*effect, error) {
	name = "MPI_" + name[strings.Index(name, "MPI_")+len("MPI_"):]
	number, ok := spec.Lookup(name)
	if !ok {
		return nil, i.errorf("%s is no function of MPI that is known", name)
	}
	f := &spec.Functions()[number]
	role := spec.RoleOf(name)
	e := &effect{name: name, mpi: f, role: role, kept: true, open: isOpen(name, role)}
	switch role.Class {
	case spec.OneSided, spec.Synchronization, spec.Access:
		return nil, i.errorf("%s: %s operations are not supported", name, role.Class)
	case spec.PointToPoint, spec.Completion, spec.Probe:
		e.group = "messages"
	case spec.Collective:
		if role.On == "win" || role.On == "fh" || strings.HasPrefix(name, "MPI_Win_") ||
			strings.HasPrefix(name, "MPI_File_") ||
			strings.HasPrefix(name, "MPI_Comm_spawn") || name == "MPI_Comm_accept" || name == "MPI_Comm_connect" {
			return nil, i.errorf("%s is not supported", name)
		}
		if role.Data != "" {
			e.group = spec.Base(name)
		}
	}
	switch {
	case strings.HasSuffix(name, "_c") && e.group != "", strings.HasPrefix(name, "MPI_Session_"),
		strings.HasPrefix(name, "MPI_T_"),
		strings.HasPrefix(name, "MPI_Win_"), strings.HasPrefix(name, "MPI_Grequest"),
		strings.HasPrefix(name, "MPI_Register_datarep"),
		strings.HasPrefix(name, "MPI_P") && (role.Persistent || strings.HasPrefix(name, "MPI_Parrived")):
		return nil, i.errorf("%s is not supported", name)
	}
	for k := range f.Declared() {
		e.arguments += string(letter(&f.Params[k], e))
	}
	if e.name == "MPI_Abort" {
		e.ends = true
	}
	return e, nil
}

// isOpen reports whether a function returns something that depends on when messages arrive, or
// on messages in another way than by what they have in them.
func isOpen(name string, role *spec.Role) bool {
	base := spec.Base(name)
	switch base {
	case "Comm_set_errhandler", "Errhandler_set", "Get_count", "Get_elements", "Get_elements_x",
		"Test_cancelled", "Status_set_cancelled", "Isendrecv", "Isendrecv_replace":
		return true
	}
	return role.Class == spec.Probe || role.Some || role.Persistent || role.Reports ||
		role.Class == spec.Completion && role.Requests != spec.Waits || role.Requests == spec.Starts ||
		base == "Mrecv" || base == "Imrecv" ||
		role.Requests == spec.Tests
}

// letter returns what a function of MPI does with an argument: that of data in messages is in capital
// letters.
func letter(p *spec.Param, e *effect) byte {
	direction := map[cst.Direction]byte{cst.In: 'r', cst.Out: 'w', cst.InOut: 'b'}[p.Direction]
	switch {
	case e.name == "MPI_Init" || e.name == "MPI_Init_thread" && p.Direction == cst.InOut:
		return 'n'
	case p.Type.Kind == cst.KindPointer && p.Form == spec.ByValue && e.group != "":
		return direction - 'a' + 'A'
	case p.Element().Class == "function":
		return 'c'
	case p.Type.Kind == cst.KindPointer && p.Form == spec.ByValue:
		return 'b'
	case p.Form == spec.ByValue && (p.Type.Kind != cst.KindArray):
		return '-'
	case p.Element().Kind == cst.KindStatus && e.group != "" && direction != 'r':
		return 'S'
	case p.Element().Kind == cst.KindPointer:
		return 'b'
	case direction == 'b' && e.group == "" && p.Type.Kind == cst.KindHandle:
		return 'h'
	case direction == 'b' && e.group == "" && p.Element().Kind == cst.KindInt:
		return 'n'
	}
	return direction
}
