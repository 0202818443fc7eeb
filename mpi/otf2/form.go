package otf2

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/trace"
)

// An item is events of one kind in a row of a call, which is told by its descriptor: MpiSend, MpiIrecv*2,
// Metric(3,10,4) with the number of the metric and the types of its values, or Leave{5:11} with an attribute and its type.
type item struct {
	kind       *Kind
	count      int      // 1 if there are static values or attributes
	static     []uint64 // of a Metric: its reference, and the types of its values
	attributes []attributeOf
}

type attributeOf struct {
	id   uint32
	kind uint8
}

// maxTypes is how many values a Metric has at most whose values are arguments by themselves.
const maxTypes = 64

// eventsParam is the parameter with the descriptors of the events of a call.
const eventsParam = "events"

// idParam is the parameter with the number of a region that is not the first of its name at a location.
const idParam = "region_id"

// regionParam is the parameter of Enter and Leave with the name of the region.
const regionParam = "region"

// isStatic reports whether the types of an event's values are in its descriptor.
func isStatic(r *Record) bool { return r.Kind == metric && (len(r.Values)-1)/2 <= maxTypes }

// A form is calls of one function with events of the same kinds.
type form struct {
	function    cst.Function
	thread      bool // there is a parameter with its number
	id          bool // there is one with the number of the region
	named       bool // there is one with the name of the region
	events      []item
	groups      []alike
	number      int      // of the function in a recorder
	streams     []hidden // of the times of events in calls
	description string
	inner       int // events between Enter and Leave

	single []bool // which of the events have values that are arguments by themselves
}

// An alike is the events of one kind in a call, whose fields are parameters in a row.
type alike struct {
	kind  *Kind
	count int
}

// newForm returns the form of calls of a function with a name and some events.
func newForm(a *archive, name string, events []item, thread, named, id bool) *form {
	f := &form{events: events, thread: thread, id: id, named: named}
	f.function.Name = name
	add := func(name string, t cst.Type) {
		if a.exported() && name == layout.Site.Name && t.Equal(typeOfValue(typeString)) {
			t = layout.Site.Type
		}
		f.function.Params = append(f.function.Params, cst.Param{Name: name, Type: t})
	}
	number := cst.Type{Kind: cst.KindInt}
	if thread {
		add(trace.ThreadParam, number)
	}
	if named {
		add(regionParam, cst.Type{Kind: cst.KindString})
	}
	if id {
		add(idParam, number)
	}
	f.countAll()
	f.addEvents(a, add)
	if f.described() {
		add(eventsParam, cst.Type{Kind: cst.KindString})
	}
	return f
}

// countAll counts the events of each kind whose fields are parameters.
func (f *form) countAll() {
	for _, e := range f.events {
		for range e.count {
			f.single = append(f.single, e.static != nil || isBracket(e.kind))
		}
		if isBracket(e.kind) {
			continue
		}
		if f.inner += e.count; e.static == nil {
			f.count(e)
		}
	}
}

// addEvents adds the parameters of events: fields, values of metrics, and attributes.
func (f *form) addEvents(a *archive, add func(name string, t cst.Type)) {
	for _, g := range f.groups {
		fields := slices.Concat(g.kind.Fields, g.kind.List)
		for i, field := range fields {
			t := typeOf(field)
			if i >= len(g.kind.Fields) {
				t = cst.ArrayOf(t)
			}
			if g.count > 1 {
				t = cst.ArrayOf(t)
			}
			add(f.unused(field.Name, g.kind.Name), t)
		}
	}
	for _, e := range f.events {
		for i := 1; i < len(e.static); i++ {
			add(f.unused(a.memberName(e.static[0], i-1), "metric"), typeOfValue(asMetric(e.static[i])))
		}
	}
	for _, e := range f.events {
		for _, at := range e.attributes {
			add(f.unused(a.nameOf("AttributeRef", uint64(at.id)), "attribute"), typeOfValue(uint64(at.kind)))
		}
	}
}

// described reports whether an argument tells the events: the name of the function does not tell all.
func (f *form) described() bool {
	return len(f.events) > 0 && (len(f.events) > 1 || f.events[0].kind.Name != f.function.Name ||
		f.events[0].static != nil || f.events[0].attributes != nil)
}

// identity returns what tells the form from others of calls of regions at one location.
func (f *form) identity() string {
	id := ""
	if f.id {
		id = idParam
	}
	return f.function.Name + "\x00" + f.description + "\x00" + id
}

// isBracket reports whether events of a kind begin or end a region.
func isBracket(k *Kind) bool { return k == enterKind || k == leaveKind }

// count counts the events of an item.
func (f *form) count(e item) {
	for i := range f.groups {
		if f.groups[i].kind == e.kind {
			f.groups[i].count += e.count
			return
		}
	}
	f.groups = append(f.groups, alike{e.kind, e.count})
}

// unused returns a name that no parameter has.
func (f *form) unused(name, of string) string {
	if len(name) > 256 {
		name = ""
	}
	is := func(name string) bool {
		return name == "" || name == trace.ThreadParam || name == eventsParam || name == idParam ||
			slices.ContainsFunc(f.function.Params, func(p cst.Param) bool { return p.Name == name })
	}
	if is(name) {
		name = of + "." + name
	}
	for base, i := name, 2; is(name); i++ {
		name = base + "." + strconv.Itoa(i)
	}
	return name
}

// memberName returns the name of a member of a metric.
func (a *archive) memberName(metric uint64, i int) string {
	if class, ok := a.instances[metric]; ok {
		metric = class
	}
	if members := a.metrics[metric]; i < len(members) {
		return a.nameOf("MetricMemberRef", members[i])
	}
	return ""
}

// typeOf returns the type of an argument with the values of a field.
func typeOf(f Field) cst.Type {
	switch f.Name {
	case "receiver", "sender", "root", "remote":
		return cst.Type{Kind: cst.KindRank}
	case "msgTag":
		return cst.Type{Kind: cst.KindTag}
	}
	if isHandle(f.Type) {
		return cst.HandleOf(classOf(f.Type))
	}
	return cst.Type{Kind: cst.KindInt}
}

// isHandle reports whether values of a type are references or constants, which have names.
func isHandle(kind string) bool {
	return strings.HasSuffix(kind, "Ref") && kind != "LocationRef" || theTable().names[kind] != nil
}

// classOf returns the class of handles for a type, such as comm for CommRef.
func classOf(kind string) string {
	name := strings.TrimSuffix(kind, "Ref")
	return strings.ToLower(name[:1]) + name[1:]
}

// typeOfValue returns the type of an argument with values of a type of OTF2.
func typeOfValue(kind uint64) cst.Type {
	switch kind {
	case typeFloat, typeDouble:
		return cst.Type{Kind: cst.KindFloat}
	}
	if r := refOf(kind); r != "" {
		return cst.HandleOf(classOf(r))
	}
	return cst.Type{Kind: cst.KindInt}
}

// asMetric returns the type whose arguments are those of values of a metric, which have 64 bits.
func asMetric(kind uint64) uint64 {
	if kind == typeDouble {
		return kind
	}
	return 0
}

const (
	typeFloat  = 9
	typeDouble = 10
	typeString = 11
)

// refOf returns the type of references for a type of OTF2 from TYPE_STRING on, "" for others.
func refOf(kind uint64) string {
	refs := [...]string{"StringRef", "AttributeRef", "", "RegionRef", "GroupRef", "MetricRef", "CommRef",
		"ParameterRef",
		"RmaWinRef", "SourceCodeLocationRef", "CallingContextRef", "InterruptGeneratorRef", "IoFileRef", "IoHandleRef",
		"LocationGroupRef"}
	if kind < typeString || kind >= typeString+uint64(len(refs)) {
		return ""
	}
	return refs[kind-typeString]
}

// isRef32 reports whether values are references of 32 bits, or ranks and tags, of which those above 2³¹ mean
// something special.
func isRef32(f Field) bool {
	switch f.Name {
	case "receiver", "sender", "root", "remote", "msgTag":
		return true
	}
	return strings.HasSuffix(f.Type, "Ref") && f.Type != "LocationRef" && f.Type != "IoParadigmRef"
}

// toInt returns the number of an argument for a value of a field, and fromInt is its inverse.
func toInt(f Field, v uint64) int64 {
	if isRef32(f) {
		return int64(int32(v))
	}
	return int64(v)
}

func fromInt(f Field, v int64) uint64 {
	if isRef32(f) {
		return uint64(uint32(v))
	}
	return uint64(v)
}

// numberValue returns an argument of a kind that is a number.
func numberValue(kind cst.Kind, v int64) cst.Value {
	switch kind {
	case cst.KindRank:
		return cst.Rank(v)
	case cst.KindTag:
		return cst.Tag(v)
	case cst.KindHandle:
		return cst.Handle(v)
	}
	return cst.Int(v)
}

// valueOf returns an argument for a value of a type of OTF2, and bitsOf is its inverse.
func valueOf(kind, v uint64) cst.Value {
	switch {
	case kind == typeDouble:
		return cst.Float(math.Float64frombits(v))
	case kind == typeFloat:
		return cst.Float(widen(uint32(v)))
	case refOf(kind) != "":
		return cst.Handle(int64(int32(v)))
	}
	return cst.Int(int64(v))
}

func bitsOf(kind uint64, v cst.Value) uint64 {
	switch {
	case kind == typeDouble:
		return math.Float64bits(v.Float())
	case kind == typeFloat:
		return uint64(narrow(v.Float()))
	case refOf(kind) != "":
		return uint64(uint32(v.Int()))
	}
	return uint64(v.Int())
}

// widen returns a float of 32 bits, and narrow is its inverse, also of all bits that are not numbers.
func widen(b uint32) float64 {
	if f := math.Float32frombits(b); f == f {
		return float64(f)
	}
	return math.Float64frombits(uint64(b>>31)<<63 | 0x7ff<<52 | uint64(b&(1<<23-1))<<29)
}

func narrow(f float64) uint32 {
	if f == f {
		return math.Float32bits(float32(f))
	}
	b := math.Float64bits(f)
	return uint32(b>>63)<<31 | 0xff<<23 | uint32(b>>29)&(1<<23-1)
}

// appendItemKey appends what tells forms with an event apart.
func appendItemKey(key []byte, r *Record) []byte {
	key = binary.AppendUvarint(key, uint64(r.Kind.number))
	if isStatic(r) {
		key = binary.AppendUvarint(key, uint64(len(r.Values)))
		key = binary.AppendUvarint(key, r.Values[0])
		for i := 1; i < len(r.Values); i += 2 {
			key = binary.AppendUvarint(key, r.Values[i])
		}
	}
	key = binary.AppendUvarint(key, uint64(len(r.Attributes)))
	for _, a := range r.Attributes {
		key = append(binary.AppendUvarint(key, uint64(a.ID)), a.Type)
	}
	return key
}

// itemsOf returns the items of events.
func itemsOf(events []Record) []item {
	var list []item
	for i := range events {
		r := &events[i]
		e := item{kind: r.Kind, count: 1}
		if isStatic(r) {
			e.static = []uint64{r.Values[0]}
			for i := 1; i < len(r.Values); i += 2 {
				e.static = append(e.static, r.Values[i])
			}
		}
		for _, a := range r.Attributes {
			e.attributes = append(e.attributes, attributeOf{a.ID, a.Type})
		}
		if n := len(list) - 1; n >= 0 && e.static == nil && e.attributes == nil && list[n].kind == e.kind &&
			list[n].static == nil && list[n].attributes == nil && e.kind.hasArguments() {
			list[n].count++
			continue
		}
		list = append(list, e)
	}
	return list
}

// hasArguments reports whether events of a kind are told by arguments, too.
func (k *Kind) hasArguments() bool { return len(k.Fields)+len(k.List) > 0 }

// describe returns the text that tells the events of a call.
func describe(events []item) string {
	var s strings.Builder
	for i, e := range events {
		if i > 0 {
			s.WriteByte(' ')
		}
		s.WriteString(e.kind.Name)
		if e.count > 1 {
			fmt.Fprintf(&s, "*%d", e.count)
		}
		if e.static != nil {
			s.WriteByte('(')
			for i, v := range e.static {
				if i > 0 {
					s.WriteByte(',')
				}
				s.WriteString(strconv.FormatUint(v, 10))
			}
			s.WriteByte(')')
		}
		if e.attributes != nil {
			s.WriteByte('{')
			for i, a := range e.attributes {
				if i > 0 {
					s.WriteByte(',')
				}
				fmt.Fprintf(&s, "%d:%d", a.id, a.kind)
			}
			s.WriteByte('}')
		}
	}
	return s.String()
}

// parseItems is the inverse of describe.
func parseItems(text string) (list []item, ok bool) {
	if text == "" {
		return nil, true
	}
	all := 0
	for word := range strings.SplitSeq(text, " ") {
		e := item{count: 1}
		var attributes, static string
		var has bool
		if word, attributes, has = strings.Cut(word, "{"); has {
			for a := range strings.SplitSeq(strings.TrimSuffix(attributes, "}"), ",") {
				id, kind, _ := strings.Cut(a, ":")
				n, err := strconv.ParseUint(id, 10, 32)
				k, err2 := strconv.ParseUint(kind, 10, 8)
				if err != nil || err2 != nil {
					return nil, false
				}
				e.attributes = append(e.attributes, attributeOf{uint32(n), uint8(k)})
			}
		}
		if word, static, has = strings.Cut(word, "("); has {
			for v := range strings.SplitSeq(strings.TrimSuffix(static, ")"), ",") {
				n, err := strconv.ParseUint(v, 10, 64)
				if err != nil {
					return nil, false
				}
				e.static = append(e.static, n)
			}
		}
		name, count, has := strings.Cut(word, "*")
		if has {
			n, err := strconv.Atoi(count)
			if err != nil || n < 1 || n > mostInner {
				return nil, false
			}
			e.count = n
		}
		if e.kind = LookupKind(name); e.kind == nil || e.kind.Class != Event || e.static != nil && e.kind != metric {
			return nil, false
		}
		if all += e.count; all > mostInner+2 || e.count > 1 &&
			!(e.kind.hasArguments() && e.static == nil && e.attributes == nil) {
			return nil, false
		}
		list = append(list, e)
	}
	return list, true
}

// mostInner is how many events a call has at most between Enter and Leave.
const mostInner = 1 << 12

// appendArguments appends the arguments of a call with some events.
func (f *form) appendArguments(args []cst.Value, events []Record) []cst.Value {
	for _, g := range f.groups {
		for i, field := range g.kind.Fields {
			kind := typeOf(field).Kind
			if g.count == 1 {
				args = append(args, numberValue(kind, toInt(field, one(events, g.kind).Values[i])))
				continue
			}
			numbers := make([]int64, 0, g.count)
			for k := range events {
				if events[k].Kind == g.kind {
					numbers = append(numbers, toInt(field, events[k].Values[i]))
				}
			}
			args = append(args, cst.Numbers(kind, numbers))
		}
		for column := range g.kind.List {
			if g.count == 1 {
				args = append(args, columnOf(one(events, g.kind), column))
				continue
			}
			lists := make([]cst.Value, 0, g.count)
			for k := range events {
				if events[k].Kind == g.kind {
					lists = append(lists, columnOf(&events[k], column))
				}
			}
			args = append(args, cst.Array(lists...))
		}
	}
	for k := range events {
		if r := &events[k]; isStatic(r) {
			for i := 1; i < len(r.Values); i += 2 {
				args = append(args, valueOf(asMetric(r.Values[i]), r.Values[i+1]))
			}
		}
	}
	for k := range events {
		for _, a := range events[k].Attributes {
			args = append(args, valueOf(uint64(a.Type), a.Value))
		}
	}
	return args
}

// one returns the only event of a kind whose fields are arguments.
func one(events []Record, kind *Kind) *Record {
	for k := range events {
		if events[k].Kind == kind && !isStatic(&events[k]) {
			return &events[k]
		}
	}
	need.That(false, "otf2: no such event")
	return nil
}

// columnOf returns a column of the list of an event.
func columnOf(r *Record, column int) cst.Value {
	width := len(r.Kind.List)
	field := r.Kind.List[column]
	numbers := make([]int64, 0, (len(r.Values)-len(r.Kind.Fields))/width)
	for i := len(r.Kind.Fields) + column; i < len(r.Values); i += width {
		numbers = append(numbers, toInt(field, r.Values[i]))
	}
	return cst.Numbers(typeOf(field).Kind, numbers)
}

// parseArguments is the inverse of appendArguments, of arguments after those of threads and regions: it returns the
// events, whose locations and times are not set. It reports false if the arguments are not those of the form.
func (f *form) parseArguments(events []Record, args []cst.Value) ([]Record, bool) {
	if !f.fits(args) {
		return nil, false
	}
	events = events[:0]
	for _, e := range f.events {
		for range e.count {
			events = append(events, Record{Kind: e.kind})
			r := &events[len(events)-1]
			r.Values = make([]uint64, len(e.kind.Fields))
			if e.static != nil {
				r.Values = e.static[:1:1]
			}
		}
	}
	take := func() (v cst.Value) {
		if len(args) > 0 {
			v, args = args[0], args[1:]
		}
		return v
	}
	for _, g := range f.groups {
		width := len(g.kind.Fields) + len(g.kind.List)
		if len(args) < width || !g.parse(events, f.single, args[:width]) {
			return nil, false
		}
		args = args[width:]
	}
	k := 0
	for _, e := range f.events {
		for i := 1; i < len(e.static); i++ {
			v := take()
			kind := asMetric(e.static[i])
			if v.Kind() != typeOfValue(kind).Kind {
				return nil, false
			}
			events[k].Values = append(events[k].Values, e.static[i], bitsOf(kind, v))
		}
		k += e.count
	}
	k = 0
	for _, e := range f.events {
		for _, a := range e.attributes {
			v := take()
			if v.Kind() != typeOfValue(uint64(a.kind)).Kind {
				return nil, false
			}
			events[k].Attributes = append(events[k].Attributes, Attribute{a.id, a.kind, bitsOf(uint64(a.kind), v)})
		}
		k += e.count
	}
	return events, len(args) == 0
}

// fits reports whether arguments have as many values as the form has events, so that these may be allocated.
func (f *form) fits(args []cst.Value) bool {
	for _, g := range f.groups {
		width := len(g.kind.Fields) + len(g.kind.List)
		if len(args) < width {
			return false
		}
		if width > 0 && g.count > 1 && (args[0].Kind() != cst.KindArray || args[0].Len() != g.count) {
			return false
		}
		args = args[width:]
	}
	return true
}

// parse sets the values of the events of a group.
func (g *alike) parse(events []Record, single []bool, args []cst.Value) bool {
	fields := len(g.kind.Fields)
	at := 0
	for k := range events {
		r := &events[k]
		if r.Kind != g.kind || single[k] {
			continue
		}
		for i, field := range g.kind.Fields {
			v := args[i]
			if g.count > 1 {
				if v.Kind() != cst.KindArray || v.Len() != g.count {
					return false
				}
				v = v.Index(at)
			}
			if v.Kind() != typeOf(field).Kind {
				return false
			}
			r.Values[i] = fromInt(field, v.Int())
		}
		if !g.parseList(r, args[fields:], at) {
			return false
		}
		at++
	}
	return at == g.count
}

// parseList sets the list of the at-th event of a group.
func (g *alike) parseList(r *Record, args []cst.Value, at int) bool {
	rows := -1
	for column, field := range g.kind.List {
		v := args[column]
		if g.count > 1 {
			if v.Kind() != cst.KindArray || v.Len() != g.count {
				return false
			}
			v = v.Index(at)
		}
		if v.Kind() != cst.KindArray || rows >= 0 && v.Len() != rows {
			return false
		}
		if rows < 0 {
			rows = v.Len()
			r.Values = append(r.Values, make([]uint64, rows*len(g.kind.List))...)
		}
		for i := range rows {
			if v.Index(i).Kind() != typeOf(field).Kind {
				return false
			}
			r.Values[len(g.kind.Fields)+i*len(g.kind.List)+column] = fromInt(field, v.Index(i).Int())
		}
	}
	return true
}
