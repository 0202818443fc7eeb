package mpi

import (
	"fmt"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/internal/header"
)

// fits returns nil if a function is declared with the parameters of its row of
// the table, and what is different otherwise.
func fits(f *Function, declared header.Function) error {
	if (declared.Result == "double") != (f.Result.Kind == cst.KindFloat) {
		return fmt.Errorf("it returns %s", declared.Result)
	}
	if len(declared.Params) != len(f.Params) {
		return fmt.Errorf("%d parameters instead of %d", len(declared.Params), len(f.Params))
	}
	for i := range f.Params {
		p, d := &f.Params[i], declared.Params[i]
		if !p.fits(d) {
			return fmt.Errorf("%s is %s%s", p.Name, d.Type, d.Suffix)
		}
	}
	return nil
}

func (p *Param) fits(d header.Param) bool {
	base, stars := d.Base(), d.Indirections()
	if base == "void" {
		return stars == 1 && p.Type.Kind == cst.KindPointer
	}
	element := p.Element()
	if class := header.Class(base); class != "" || element.Kind == cst.KindHandle {
		if element.Class == "function" {
			return class == ""
		}
		return (stars == 0) == (p.Form == ByValue) && (class == element.Class || class == "" && base == "int")
	}
	switch p.Form {
	case ByValue:
		return stars == 0 || p.Type.Kind == cst.KindPointer
	case Indirect:
		return stars == 1 && (base == "MPI_Status") == (element.Kind == cst.KindStatus) && base != "char"
	case Array:
		return stars >= 1 && (base == "MPI_Status") == (element.Kind == cst.KindStatus) && base != "char"
	}
	return base == "char" && stars >= 1
}
