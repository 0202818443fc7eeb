package otf2

import (
	_ "embed" // for the bridge
	"fmt"
	"strings"
)

//go:embed bridge/bridge.c
var bridgeText string

// bridgeSource returns the source of the bridge in C: bridge.c, with a function for each kind of record and
// direction, which libotf2 has no loop for.
func bridgeSource() []byte {
	var records, registers, writers strings.Builder
	kinds := theTable().kinds[firstKind:]
	for _, class := range []Class{Definition, Event, Marker} {
		registerAll(&registers, class, kinds)
	}
	for _, k := range kinds {
		fmt.Fprintf(&records, "enum { NUMBER_%s = %d };\n\n", k.Name, k.number)
		fmt.Fprintf(&writers, "\t[NUMBER_%s] = write_%s,\n", k.Name, k.Name)
		if k.Class != Archive {
			readFunction(&records, k)
			writeFunction(&records, k)
		}
	}
	return []byte(strings.Replace(bridgeText, "\nRECORDS\n", fmt.Sprintf(
		"\n%s%sstatic void (*const writers[])(int) = {\n%s};\n", &records, &registers, &writers), 1))
}

// registerAll writes a function that registers the callbacks of a class.
func registerAll(s *strings.Builder, class Class, kinds []*Kind) {
	prefix := [...]string{Definition: "GlobalDefReaderCallbacks", Event: "EvtReaderCallbacks",
		Marker: "MarkerReaderCallbacks"}[class]
	what := [...]string{Definition: "definitions", Event: "events", Marker: "markers"}[class]
	fmt.Fprintf(s, "static void register_%s(OTF2_%s *on)\n{\n", what, prefix)
	for _, k := range kinds {
		if k.Class == class {
			fmt.Fprintf(s, "\tcheck(OTF2_%s_Set%sCallback(on, on_%s), \"callback\");\n", prefix, k.Name, k.Name)
		}
	}
	s.WriteString("}\n\n")
}

// inC is the type of a parameter in C.
func (p *param) inC() string {
	switch {
	case p.is == isText:
		return "const char *"
	case strings.HasSuffix(p.Type, "_t"):
		return p.Type
	}
	return "OTF2_" + p.Type
}

// columns returns the parameters that are something.
func (k *Kind) columns(is paramIs) []*param {
	var of []*param
	for i := range k.parameters {
		if k.parameters[i].is == is {
			of = append(of, &k.parameters[i])
		}
	}
	return of
}

// typeOf returns the parameter that is the type of a value, which is the one before.
func (k *Kind) typeOf(p *param) string {
	for i := range k.parameters {
		if &k.parameters[i] == p {
			return k.parameters[i-1].Name
		}
	}
	return ""
}

// bitsOf returns an expression for the bits of a parameter in C, at an index such as [i].
func (k *Kind) bitsOf(p *param, index string) string {
	switch p.Type {
	case "AttributeValue":
		return fmt.Sprintf("bits(%s%s, %s%s)", k.typeOf(p), index, p.Name, index)
	case "MetricValue":
		return p.Name + index + ".unsigned_int"
	}
	return p.Name + index
}

// readFunction writes the callback of a kind.
func readFunction(s *strings.Builder, k *Kind) {
	first := "void *data"
	if k.Class == Event {
		first = "OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data,\n" +
			"\tOTF2_AttributeList *attributes"
	}
	fmt.Fprintf(s, "static OTF2_CallbackCode on_%s(%s", k.Name, first)
	count := ""
	for i := range k.parameters {
		p := &k.parameters[i]
		star := ""
		switch p.is {
		case isList:
			star = "*"
			fmt.Fprintf(s, ", const %s *%s", p.inC(), p.Name)
			continue
		case isCount:
			count = p.Name
		}
		fmt.Fprintf(s, ", %s%s %s", p.inC(), star, p.Name)
	}
	s.WriteString(")\n{\n")
	if k.Class == Event {
		fmt.Fprintf(s, "\tevent(NUMBER_%s, time, attributes);\n", k.Name)
	} else {
		fmt.Fprintf(s, "\tput(NUMBER_%s * 2);\n", k.Name)
	}
	for _, p := range k.columns(isField) {
		fmt.Fprintf(s, "\tput(%s);\n", k.bitsOf(p, ""))
	}
	for _, p := range k.columns(isText) {
		fmt.Fprintf(s, "\tput_text(%s);\n", p.Name)
	}
	if count != "" {
		fmt.Fprintf(s, "\tput(%s);\n\tfor (uint64_t i = 0; i < %s; i++) {\n", count, count)
		for _, p := range k.columns(isList) {
			fmt.Fprintf(s, "\t\tput(%s);\n", k.bitsOf(p, "[i]"))
		}
		s.WriteString("\t}\n")
	}
	if k.Name == "Location" {
		s.WriteString("\tadd_location(self);\n")
	}
	s.WriteString("\treturn OTF2_CALLBACK_SUCCESS;\n}\n\n")
}

// getOf returns an expression that reads a parameter.
func (k *Kind) getOf(p *param, index string) string {
	what := fmt.Sprintf("%q", k.Name+"."+p.Name)
	switch p.Type {
	case "AttributeValue":
		return fmt.Sprintf("get_value(%s%s, %s)", k.typeOf(p), index, what)
	case "MetricValue":
		return "(OTF2_MetricValue){.unsigned_int = get()}"
	case "int64_t":
		return "(int64_t)get()"
	}
	return fmt.Sprintf("GET(%s, %s)", p.inC(), what)
}

// writeFunction writes the function that reads a record of a kind from the pipe.
func writeFunction(s *strings.Builder, k *Kind) {
	fmt.Fprintf(s, "static void write_%s(int has_attributes)\n{\n", k.Name)
	if k.Class == Event {
		s.WriteString("\tOTF2_TimeStamp time = begin_event(has_attributes);\n")
	}
	for _, p := range k.columns(isField) {
		fmt.Fprintf(s, "\t%s %s = %s;\n", p.inC(), p.Name, k.getOf(p, ""))
	}
	for i, p := range k.columns(isText) {
		fmt.Fprintf(s, "\tconst char *%s = get_text(%d, %q);\n", p.Name, i, k.Name+"."+p.Name)
	}
	for _, count := range k.columns(isCount) {
		fmt.Fprintf(s, "\t%s %s = %s;\n", count.inC(), count.Name, k.getOf(count, ""))
		for _, p := range k.columns(isList) {
			fmt.Fprintf(s, "\tstatic %s *%s;\n\tstatic size_t room_%s;\n", p.inC(), p.Name, p.Name)
		}
		fmt.Fprintf(s, "\tfor (uint64_t i = 0; i < %s; i++) {\n", count.Name)
		for _, p := range k.columns(isList) {
			fmt.Fprintf(s, "\t\t%s = room(%s, &room_%s, i, sizeof *%s);\n", p.Name, p.Name, p.Name, p.Name)
			fmt.Fprintf(s, "\t\t%s[i] = %s;\n", p.Name, k.getOf(p, "[i]"))
		}
		s.WriteString("\t}\n")
	}
	call := [...]string{Definition: "OTF2_GlobalDefWriter_Write%s(definition_writer()",
		Event: "OTF2_EvtWriter_%s(writer, list, time", Marker: "OTF2_MarkerWriter_Write%s(marker_writer()"}[k.Class]
	fmt.Fprintf(s, "\tcheck("+call, k.Name)
	for _, p := range k.parameters {
		s.WriteString(", " + p.Name)
	}
	fmt.Fprintf(s, "), %q);\n", k.Name)
	if k.Name == "Location" {
		s.WriteString("\tadd_location(self);\n")
	}
	s.WriteString("}\n\n")
}
