package otf2

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
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
