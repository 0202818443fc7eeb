package proxy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// What statuses say of messages: from whom they came, where a receive takes them from any source, and how
// large they were.

func sourceOf(x cst.Value) int64 { return x.Status().Source }

func tagOf(x cst.Value) int64 { return x.Status().Tag }

// isAny reports whether a source is MPI_ANY_SOURCE.
func isAny(x cst.Value) bool { return x.Int() == spec.ID("MPI_ANY_SOURCE") }

// takesFrom reports whether a function waits for a message that no call before it has matched, and can wait
// for one of another source.
func takesFrom(name string) bool {
	switch spec.Base(name) {
	case "Recv", "Probe", "Mprobe", "Iprobe", "Improbe":
		return true
	}
	return false
}

// from returns an expression in C for a source: where it is any, that of the message that came in the trace,
// if another comes first.
func (s *statement) from(source string, v *values) (string, error) {
	anywhere := false
	v.each(func(x cst.Value) { anywhere = anywhere || isAny(x) })
	statuses := s.argument("status")
	if !anywhere || !takesFrom(s.function.Name) || statuses == nil || s.argument("tag") == nil {
		return source, nil
	}
	known := true
	statuses.each(func(x cst.Value) { known = known && x.Kind() == cst.KindStatus })
	if flag := s.argument("flag"); flag != nil {
		flag.each(func(x cst.Value) { known = known && x.Int() == 1 })
	}
	if !known {
		return source, nil
	}
	sender, err := s.number(statuses, s.key(), "sender", sourceOf, numberName("rank"))
	if err != nil {
		return "", err
	}
	tag, err := s.number(s.argument("tag"), s.key(), "tag", cst.Value.Int, numberName("tag"))
	if err != nil {
		return "", err
	}
	comm, err := s.handle(&spec.Param{Name: "comm", Direction: cst.In}, s.argument("comm"), "comm")
	return fmt.Sprintf("from(%s, %s, %s, %s)", source, sender, tag, comm), err
}

// told returns an expression in C for a status that MPI is asked about: the trace says what it said.
func (s *statement) told(v *values) (string, error) {
	known := true
	v.each(func(x cst.Value) { known = known && x.Kind() == cst.KindStatus })
	if !known {
		return "&status", nil
	}
	source, err := s.number(v, s.key(), "source", sourceOf, numberName("rank"))
	if err != nil {
		return "", err
	}
	tag, err := s.number(v, s.key(), "tag", tagOf, numberName("tag"))
	if err != nil {
		return "", err
	}
	count, types := s.argument("count"), s.argument("datatype")
	if count == nil || types == nil {
		flag := "0"
		if s.function.Name == "MPI_Test_cancelled" {
			flag, err = s.flag()
		}
		return fmt.Sprintf("told_cancelled(%s, %s, %s)", source, tag, flag), err
	}
	n, err := s.number(count, s.key(), "count", cst.Value.Int, numberName("int"))
	if err != nil {
		return "", err
	}
	datatype, err := s.handle(&spec.Param{Name: "datatype", Direction: cst.In}, types, "datatype")
	how := "told"
	if strings.Contains(s.function.Name, "_elements") {
		how = "told_elements"
	}
	return fmt.Sprintf("%s(%s, %s, %s, %s)", how, source, tag, datatype, n), err
}

// fitting returns an expression in C for the size of a receive from any source of which the trace does not
// say from where its message came: that of the message it gets, where this is larger than what the one of the
// trace had room for.
func (s *statement) fitting() {
	if s.fits == nil || strings.HasPrefix(s.argumentText("source"), "from(") {
		return
	}
	wait := 0
	if spec.Base(s.function.Name) == "Recv" {
		wait = 1
	}
	i := slices.IndexFunc(s.function.Declared(), func(p spec.Param) bool { return p.Name == "count" })
	s.args[i] = fmt.Sprintf("fitting(%s, %s, %s, %s, %s, %d)", s.args[i], s.argumentText("datatype"),
		s.argumentText("source"), s.argumentText("tag"),
		s.argumentText("comm"), wait)
}
