package otf2

import (
	_ "embed" // for the tables
	"strconv"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/internal/need"
)

// A Class says where records of a kind are in an archive.
type Class uint8

// The classes.
const (
	Definition Class = iota // of the whole archive
	Event                   // of one location
	Marker
	Archive // what the anchor file says
)

// A Kind is a kind of record.
type Kind struct {
	Name  string // as in the name of OTF2's function, such as MpiSend
	Class Class

	// Fields are those with one value. Numbers of elements are not among them.
	Fields []Field
	List   []Field  // columns of the list that follows them; nil if there is none
	Texts  []string // names of fields that are text, and not the number of a String

	number     int     // in the protocol of the bridge
	parameters []param // of the function in C

	request      int  // the position of the field with a request, plus one
	starts, ends bool // the request
}

// A Field is a field of a record.
type Field struct {
	Name string
	Type string // in C, without OTF2_
}

// A param is a parameter of a function in C.
type param struct {
	Field
	is paramIs
}

type paramIs uint8

const (
	isField paramIs = iota
	isCount         // of the elements of the list
	isList
	isText
)

// A Record is a definition, an event, a marker, or something that the anchor file says. Values are bits:
// a signed number is converted to uint64, a float64 by [math.Float64bits], a float32 by
// [math.Float32bits].
type Record struct {
	Kind     *Kind
	Location uint64   // of events
	Time     uint64   // in ticks of the archive's clock, of events
	Values   []uint64 // of the fields, then rows of the list: see [Kind]
	Texts    []string

	Attributes []Attribute // of events
}

// An Attribute is an attribute of an event.
type Attribute struct {
	ID    uint32
	Type  uint8
	Value uint64
}

//go:embed records.txt
var recordsText string

//go:embed constants.txt
var constantsText string

// A table has all kinds and constants.
type table struct {
	kinds     []*Kind // by their numbers; the first two are of the protocol
	byName    map[string]*Kind
	constants map[string]uint64
	names     map[string]map[uint64]string // by type
}

// Numbers of the protocol that are no kinds.
const (
	numberEnd      = iota // of all records
	numberLocation        // of the events that follow
	firstKind
)

var theTable = sync.OnceValue(func() *table {
	t := &table{byName: make(map[string]*Kind), constants: make(map[string]uint64),
		names: make(map[string]map[uint64]string)}
	t.kinds = make([]*Kind, firstKind)
	class := Definition
	classes := map[string]Class{"definitions": Definition, "events": Event, "markers": Marker, "archive": Archive}
	for line := range strings.Lines(recordsText) {
		line = strings.TrimSpace(line)
		name, fields, ok := strings.Cut(line, ":")
		if !ok {
			class = classes[line]
			continue
		}
		k := newKind(name, class, strings.TrimSpace(fields))
		k.number = len(t.kinds)
		t.kinds = append(t.kinds, k)
		t.byName[name] = k
	}
	for line := range strings.Lines(constantsText) {
		kind, constants, _ := strings.Cut(strings.TrimSpace(line), ":")
		t.names[kind] = make(map[uint64]string)
		for c := range strings.FieldsSeq(constants) {
			name, digits, _ := strings.Cut(c, "=")
			v, err := strconv.ParseUint(digits, 10, 64)
			need.That(err == nil, "otf2: a constant that is no number")
			t.constants[name] = v
			if _, ok := t.names[kind][v]; !ok { // others are old names
				t.names[kind][v] = name
			}
		}
	}
	return t
})

func newKind(name string, class Class, fields string) *Kind {
	k := &Kind{Name: name, Class: class}
	if fields == "" {
		return k // such as MpiCollectiveBegin
	}
	for f := range strings.SplitSeq(fields, ", ") {
		kind, name, _ := strings.Cut(f, " ")
		p := param{Field: Field{Name: name, Type: strings.Trim(kind, "#*")}}
		switch {
		case kind == "text":
			p.is = isText
			k.Texts = append(k.Texts, name)
		case strings.HasPrefix(kind, "#"):
			p.is = isCount
		case strings.HasSuffix(kind, "*"):
			p.is = isList
			k.List = append(k.List, p.Field)
		default:
			k.Fields = append(k.Fields, p.Field)
			if name == "requestID" {
				k.request = len(k.Fields)
			}
		}
		k.parameters = append(k.parameters, p)
	}
	switch k.Name {
	case "MpiIsend", "MpiIrecvRequest", "NonBlockingCollectiveRequest":
		k.starts = true
	case "MpiIsendComplete", "MpiIrecv", "NonBlockingCollectiveComplete", "MpiRequestCancelled":
		k.ends = true
	}
	return k
}

// LookupKind returns the kind of records with a name, nil if there is none.
func LookupKind(name string) *Kind { return theTable().byName[name] }

// Constant returns the value of a constant of OTF2, by its name in C without OTF2_, such as PARADIGM_MPI, and
// whether there is one.
func Constant(name string) (uint64, bool) {
	v, ok := theTable().constants[name]
	return v, ok
}
