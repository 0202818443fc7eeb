package main

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strings"
)

// A name is an exported name of a package that others can import. Fields of structs and
// methods of interfaces are of kind "field": they are counted apart and not checked.
type name struct {
	pkg      string // import path
	dir      string // of the package, inside the repository
	id       string // as in godoc: Name, or Type.Method
	kind     string // "const", "var", "func", "type", "method", or "field"
	use      use
	object   types.Object
	excepted bool
}

// A use says who uses a name, the weightiest of its uses.
type use int

const (
	unused      use = iota
	byInterface     // a method that makes its type satisfy an interface
	byType          // a type that something used is made of, or a constant of it beside one that is used
	byTest          // another package's test or benchmark
	byExample       // an example of godoc
	byCode          // another package
)

func (u use) String() string {
	return [...]string{"unused", "interface", "type", "test", "example", "code"}[u]
}

// String is how exceptions call n: by the directory of its package, which is the name of
// the package in the root.
func (n *name) String() string {
	dir := n.dir
	if dir == "." {
		dir = path.Base(n.pkg)
	}
	return dir + "." + n.id
}

// names are the exported names by [keyOf].
type names map[string]*name

// exportedNames lists the exported names of all packages, sorted, and finds out which
// are used.
func exportedNames(sources []*source) []*name {
	found := make(names)
	for _, s := range sources {
		if s.importable() {
			found.declare(s)
		}
	}
	interfaces := wellKnown()
	for _, s := range sources {
		found.mention(s)
		found.satisfy(s, interfaces)
	}
	found.followConstants()
	found.follow()
	list := make([]*name, 0, len(found))
	for _, n := range found {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b *name) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.id, b.id))
	})
	return list
}

// declare takes down the exported names that s declares outside its tests.
func (u names) declare(s *source) {
	add := func(id, kind string, object types.Object) {
		if object.Exported() {
			u[s.path+" "+id] = &name{pkg: s.path, dir: s.dir, id: id, kind: kind, object: object}
		}
	}
	scope := s.pkg.Scope()
	for _, id := range scope.Names() {
		object := scope.Lookup(id)
		if !object.Exported() || s.inTest(object.Pos()) {
			continue
		}
		switch object.(type) {
		case *types.Const:
			add(id, "const", object)
		case *types.Var:
			add(id, "var", object)
		case *types.Func:
			add(id, "func", object)
		default:
			add(id, "type", object)
		}
		named := namedType(object)
		if named == nil {
			continue
		}
		for m := range named.Methods() {
			if !s.inTest(m.Pos()) {
				add(id+"."+m.Name(), "method", m)
			}
		}
		switch t := named.Underlying().(type) {
		case *types.Interface:
			for m := range t.ExplicitMethods() {
				add(id+"."+m.Name(), "field", m)
			}
		case *types.Struct:
			for f := range t.Fields() {
				add(id+"."+f.Name(), "field", f)
			}
		}
	}
}

// namedType returns the type that an object declares, nil if it declares none.
func namedType(object types.Object) *types.Named {
	if t, ok := object.(*types.TypeName); !ok || t.IsAlias() {
		return nil
	}
	named, _ := object.Type().(*types.Named)
	return named
}

// keyOf is what an object is found by, however its package came into memory.
func keyOf(object types.Object) string {
	if object.Pkg() == nil {
		return ""
	}
	id := object.Name()
	if f, ok := object.(*types.Func); ok && f.Origin().Signature().Recv() != nil {
		t := f.Origin().Signature().Recv().Type()
		if pointer, ok := t.(*types.Pointer); ok {
			t = pointer.Elem()
		}
		named, ok := t.(*types.Named)
		if !ok {
			return ""
		}
		id = named.Obj().Name() + "." + id
	}
	return object.Pkg().Path() + " " + id
}

// mark notes a use of object.
func (u names) mark(object types.Object, how use) {
	if n := u[keyOf(object)]; n != nil {
		n.use = max(n.use, how)
	}
}

// mention marks what s uses of other packages, and what its examples use of its own.
func (u names) mention(s *source) {
	examples := s.examples()
	mark := func(at token.Pos, object types.Object) {
		switch {
		case object.Pkg() == nil:
		case slices.ContainsFunc(examples, func(n ast.Node) bool { return n.Pos() <= at && at < n.End() }):
			u.mark(object, byExample)
		case strings.TrimSuffix(object.Pkg().Path(), "_test") == s.path:
		case s.inTest(at):
			u.mark(object, byTest)
		default:
			u.mark(object, byCode)
		}
	}
	for identifier, object := range s.info.Uses {
		mark(identifier.Pos(), object)
	}
	for expression, value := range s.info.Types {
		eachNamed(value.Type, func(t *types.TypeName) { mark(expression.Pos(), t) })
	}
}

// wellKnown returns the interfaces by which packages of the standard library call methods
// of values of any type: the package of a type need not import them.
func wellKnown() []*types.Interface {
	const text = `package p
var (
	_ error
	_ interface{ String() string }
	_ interface{ GoString() string }
	_ interface{ Is(error) bool }
	_ interface{ As(any) bool }
	_ interface{ Unwrap() error }
	_ interface{ AppendText([]byte) ([]byte, error) }
	_ interface{ AppendBinary([]byte) ([]byte, error) }
	_ interface{ MarshalText() ([]byte, error) }
	_ interface{ MarshalBinary() ([]byte, error) }
	_ interface{ MarshalJSON() ([]byte, error) }
	_ interface{ UnmarshalText([]byte) error }
	_ interface{ UnmarshalBinary([]byte) error }
	_ interface{ UnmarshalJSON([]byte) error }
)`
	s := &source{fset: token.NewFileSet(), info: &types.Info{Types: make(map[ast.Expr]types.TypeAndValue)}}
	file, err := parser.ParseFile(s.fset, "", text, 0)
	if err == nil {
		_, err = new(types.Config).Check("p", s.fset, []*ast.File{file}, s.info)
	}
	if err != nil {
		panic(err)
	}
	return s.interfaces()
}

// interfaces returns those that stand in s.
func (s *source) interfaces() []*types.Interface {
	var all []*types.Interface
	for _, value := range s.info.Types {
		if t, ok := value.Type.Underlying().(*types.Interface); ok && value.IsType() {
			all = append(all, t)
		}
	}
	return all
}

// satisfy marks the methods by which types satisfy interfaces, as s sees them: those of
// s and of its imports, interfaces without a name in s, and the known ones.
func (u names) satisfy(s *source, interfaces []*types.Interface) {
	interfaces = append(s.interfaces(), interfaces...)
	var candidates []*types.Named
	for _, p := range append([]*types.Package{s.pkg}, s.pkg.Imports()...) {
		for _, id := range p.Scope().Names() {
			object := p.Scope().Lookup(id)
			named := namedType(object)
			if named == nil {
				continue
			}
			if t, ok := named.Underlying().(*types.Interface); ok {
				interfaces = append(interfaces, t)
			} else if u[keyOf(object)] != nil {
				candidates = append(candidates, named)
			}
		}
	}
	for _, t := range candidates {
		for _, i := range interfaces {
			if i.NumMethods() == 0 || !i.IsMethodSet() || !satisfies(t, i) {
				continue
			}
			for m := range i.Methods() {
				u.mark(methodOf(t, m.Name()), byInterface)
			}
		}
	}
}

// satisfies tells whether t has the methods of i. Of types with parameters, the names of
// the methods count: which instances there are is not known here.
func satisfies(t *types.Named, i *types.Interface) bool {
	if t.TypeParams().Len() == 0 {
		return types.Implements(types.NewPointer(t), i)
	}
	for m := range i.Methods() {
		if _, ok := methodOf(t, m.Name()).(*types.Func); !ok {
			return false
		}
	}
	return true
}

// methodOf returns the method of a name, or what else t has of it.
func methodOf(t *types.Named, method string) types.Object {
	object, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, t.Obj().Pkg(), method)
	return object
}

// follow marks the types that used names are made of: of the parameters and results of
// functions, the exported fields of types, of variables and constants.
func (u names) follow() {
	for changed := true; changed; {
		changed = false
		for _, n := range u {
			if n.use == unused || n.kind == "field" {
				continue
			}
			eachDeclared(n.object, func(t *types.TypeName) {
				if m := u[keyOf(t)]; m != nil && m.use == unused {
					m.use, changed = byType, true
				}
			})
		}
	}
}

// followConstants marks the constants of a type if one of them is used.
func (u names) followConstants() {
	used := make(map[types.Type]bool)
	for _, n := range u {
		if _, ok := n.object.Type().(*types.Named); ok && n.kind == "const" && n.use != unused {
			used[n.object.Type()] = true
		}
	}
	for _, n := range u {
		if n.kind == "const" && used[n.object.Type()] {
			n.use = max(n.use, byType)
		}
	}
}

// eachDeclared calls f with the types that the declaration of object names.
func eachDeclared(object types.Object, f func(*types.TypeName)) {
	eachNamed(object.Type(), f)
	named := namedType(object)
	if named == nil {
		return
	}
	eachConstraint(named.TypeParams(), f)
	t, ok := named.Underlying().(*types.Struct)
	if !ok {
		eachNamed(named.Underlying(), f)
		return
	}
	for field := range t.Fields() {
		if field.Exported() {
			eachNamed(field.Type(), f)
		}
	}
}

func eachConstraint(parameters *types.TypeParamList, f func(*types.TypeName)) {
	for p := range parameters.TypeParams() {
		eachNamed(p.Constraint(), f)
	}
}

// eachNamed calls f with the named types that t is written with.
func eachNamed(t types.Type, f func(*types.TypeName)) {
	switch t := t.(type) {
	case *types.Named:
		f(t.Origin().Obj())
		for of := range t.TypeArgs().Types() {
			eachNamed(of, f)
		}
	case *types.Alias:
		f(t.Obj())
		eachNamed(types.Unalias(t), f)
	case *types.Map:
		eachNamed(t.Key(), f)
		eachNamed(t.Elem(), f)
	case interface{ Elem() types.Type }: // pointers, slices, arrays and channels
		eachNamed(t.Elem(), f)
	case *types.Tuple:
		for v := range t.Variables() {
			eachNamed(v.Type(), f)
		}
	case *types.Signature:
		eachConstraint(t.TypeParams(), f)
		eachNamed(t.Params(), f)
		eachNamed(t.Results(), f)
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			eachNamed(m.Type(), f)
		}
		for of := range t.EmbeddedTypes() {
			eachNamed(of, f)
		}
	case *types.Union:
		for term := range t.Terms() {
			eachNamed(term.Type(), f)
		}
	}
}
