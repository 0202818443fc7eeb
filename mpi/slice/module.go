package slice

import (
	"fmt"
	"slices"
)

// A Module is a program.
type Module struct {
	lines     []string
	types     map[string]*irType
	globals   []*global
	functions []*function
	named     map[string]any    // *global or *function, by name with its @
	metadata  map[string]string // by number with its !
	units     *units
	cut       bool
}

// A global is a variable.
type global struct {
	name     string
	line     int
	external bool
	constant bool
	init     []value // addresses in the value that it begins with
	typ      *irType
	object   *object
}

// A function is one of the module, or of none: then it has no blocks.
type function struct {
	name       string
	module     *Module
	line, end  int // lines of "define" and of the closing brace
	result     *irType
	params     []*param
	variadic   bool
	rest       *object // the arguments of a variadic function that have no parameter
	restNeeded bool
	blocks     []*block
	values     map[string]operand
	scope      string // metadata
	calls      []*instruction
	callers    []*instruction
	object     *object // that its address points to
	whole      bool    // all of it is needed: others call it
	early      bool    // the loader calls it
	needed     bool    // for its effects: all calls of it are needed
	resultUsed bool
	returned   node
}

// An operand is what the name of a value stands for: a *param or an *instruction.
type operand interface{ value() *node }

// A param is a parameter of a function.
type param struct {
	name   string
	typ    *irType
	of     *function
	number int
	byval  *irType // what the caller's copy is of
	object *object
	node
	needed bool
}

func (p *param) value() *node { return &p.node }

// A block is a basic block.
type block struct {
	name         string
	of           *function
	number       int // in the function
	line         int // of the label, or −1
	instructions []*instruction
	succ, pred   []*block
	after        *block   // the immediate postdominator, nil if it is the end of the function
	controls     []*block // the blocks whose branches decide whether this one runs
}

// last returns the terminator.
func (b *block) last() *instruction { return b.instructions[len(b.instructions)-1] }

// An instruction is one of a block, or none: of the loader or of what is outside.
type instruction struct {
	name      string // of the result, with its %, or empty
	op        string
	text      string  // without what is behind the last comma that begins metadata
	line, end int     // of the text of the module
	debug     string  // metadata
	typ       *irType // of the result; what is stored for store
	element   *irType // what an address is counted in, or an alloca allocates
	operands  []value
	labels    []string // of successors; of a phi, where its operands come from
	callee    value
	block     *block
	position  int // in the block
	piece     int // of an order
	node
	number     int     // in the module
	object     *object // that it allocates
	targets    []*function
	effects    []*effect // of all functions that are not of the module and that it may be a call of
	effect     *effect   // of a function that is not of the module, of the name effectName
	effectName string
	kept       bool
	copiesAll  bool // all that it copies is needed
	why        *reason
}

func (i *instruction) value() *node { return &i.node }

// A value is an operand of an instruction, or part of one.
type value struct {
	typ       *irType
	local     string // name with its %
	text      string
	at, end   int     // where it is in the text of the instruction
	addresses []value // of a constant: the globals in it
	global    string  // name with its @, of an address
	offset    int64   // in it
	unbounded bool    // the offset is not known
	within    int64   // where it is in the constant that it is a part of
	constant  bool    // a number that is used as an address, not null
	number    int64   // of a constant
	isNumber  bool
	byval     bool  // an argument of a call that the called function has a copy of
	pointed   int64 // how many bytes an argument points to, 0 if that is not said
}

// A Position is a line of a source of the program; the zero Position is none that is known.
type Position struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

func (p Position) String() string {
	if p.File == "" {
		return "an unknown line"
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// An Error says why a module cannot be read or sliced.
type Error struct {
	At   Position // in the sources of the program
	Line int      // of the module, from 1; 0 if it is no matter of one line
	What string
}

// Error returns what a user of the program is told, as a compiler tells it: the package is not named.
func (e *Error) Error() string {
	switch {
	case e.At.File != "":
		return fmt.Sprintf("%v: %s", e.At, e.What)
	case e.Line > 0:
		return fmt.Sprintf("line %d of the module of LLVM: %s", e.Line, e.What)
	}
	return e.What
}

// at returns where an instruction is in the sources.
func (i *instruction) at() Position {
	return i.block.of.module.position(i.debug)
}

func (i *instruction) errorf(format string, args ...any) error {
	return &Error{i.at(), i.line + 1, fmt.Sprintf(format, args...)}
}

// defined returns the functions that have a body, in their order.
func (m *Module) defined() []*function {
	return slices.DeleteFunc(slices.Clone(m.functions), func(f *function) bool { return len(f.blocks) == 0 })
}
