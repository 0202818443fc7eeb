package slicing

import (
	"bytes"
	_ "embed" // for the source of the library
	"strings"
	"text/template"

	"github.com/reprise-trace/reprise/internal/header"
	"github.com/reprise-trace/reprise/mpi/slice"
	"github.com/reprise-trace/reprise/mpi/spec"
)

//go:embed standin.tmpl
var standinSource string

var standin = template.Must(template.New("standin").Parse(standinSource))

// A stub is a function of the library that stands in for MPI.
type stub struct {
	Name, Declared, Arguments string
	Group                     string
	Request, Status           string // parameters, empty if there are none
	Source, Tag               string // of a receive
	OnlyReceives              bool
}

// source returns the source of the library for the functions that an mpi.h declares, and with what is
// assumed.
func source(h *header.Header, assumed []slice.Assumption) ([]byte, error) {
	var stubs []stub
	for _, declared := range h.Functions {
		number, ok := spec.Lookup(declared.Name)
		role := spec.RoleOf(declared.Name)
		if !ok || role.Persistent || strings.HasSuffix(declared.Name, "_c") ||
			role.Data == "" && role.Sends == nil && role.Receives == nil {
			continue
		}
		if role.Sends == nil && role.Receives != nil && role.Receives.Peer == "" ||
			role.Sends != nil && role.Receives != nil && role.Nonblocking {
			continue // of messages that were probed, or that are sent and received in one
		}
		f := &spec.Functions()[number]
		if len(f.Declared()) != len(declared.Params) {
			continue
		}
		s := stub{Name: declared.Name, Group: "messages"}
		if role.Data != "" {
			s.Group = spec.Base(declared.Name)
		}
		var parameters, arguments []string
		for i, p := range f.Declared() {
			parameters = append(parameters, declared.Params[i].Declare(p.Name))
			arguments = append(arguments, p.Name)
			switch p.Name {
			case "request":
				s.Request = p.Name
			case "status":
				s.Status = p.Name
			}
		}
		if r := role.Receives; r != nil {
			s.Source, s.Tag, s.OnlyReceives = r.Peer, r.Tag, role.Sends == nil
		}
		s.Declared, s.Arguments = strings.Join(parameters, ", "), strings.Join(arguments, ", ")
		stubs = append(stubs, s)
	}
	var texts []string // in C, without what an escape is for another
	for _, a := range assumed {
		texts = append(texts, strings.Map(func(r rune) rune {
			if r < ' ' || r == '"' || r == '\\' || r == '?' {
				return '_'
			}
			return r
		}, a.String()))
	}
	var text bytes.Buffer
	err := standin.Execute(&text, map[string]any{"Symbol": slice.ExecutedSymbol, "Functions": stubs, "Assumed": texts})
	return text.Bytes(), err
}
