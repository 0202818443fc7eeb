package otf2

import (
	"math"
	"strings"

	"github.com/reprise-trace/reprise/cst"
)

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
