package main

import (
	"cmp"
	"fmt"
	"go/ast"
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

// exportedNames lists the exported names of all packages, sorted, and finds out which
// are used.
func exportedNames(sources []*source) ([]*name, error) {
	found := &usage{names: make(map[string]*name)}
	for _, s := range sources {
		if importable(s) {
			found.declare(s)
		}
	}
	for _, s := range sources {
		found.mention(s)
		found.satisfy(s)
	}
	for _, s := range sources {
		if importable(s) {
			found.own = append(found.own, s)
		}
	}
	found.follow()
	names := make([]*name, 0, len(found.names))
	for _, n := range found.names {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b *name) int {
		return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.id, b.id))
	})
	return names, nil
}

// importable tells whether others can import s: it is no command, no test beside a
// package, and not internal.
func importable(s *source) bool {
	return s.name != "main" && s.pkg.Path() == s.path && !slices.Contains(strings.Split(s.path, "/"), "internal")
}

// A usage knows the exported names and which of them are used.
type usage struct {
	names map[string]*name // by key
	own   []*source
}

// key of a name, which is the same however the package came into memory.
func key(pkg, id string) string { return pkg + "\x00" + id }

// declare takes down the exported names that s declares outside its tests.
func (u *usage) declare(s *source) {
	scope := s.pkg.Scope()
	for _, id := range scope.Names() {
		object := scope.Lookup(id)
		if !object.Exported() || inTest(s, object.Pos()) {
			continue
		}
		u.add(s, id, kindOf(object))
		if named, ok := object.Type().(*types.Named); ok && isType(object) {
			u.declareMembers(s, id, named)
		}
	}
}

func (u *usage) declareMembers(s *source, id string, named *types.Named) {
	for i := range named.NumMethods() {
		if m := named.Method(i); m.Exported() {
			u.add(s, id+"."+m.Name(), "method")
		}
	}
	switch t := named.Underlying().(type) {
	case *types.Interface:
		for i := range t.NumExplicitMethods() {
			if m := t.ExplicitMethod(i); m.Exported() {
				u.add(s, id+"."+m.Name(), "field")
			}
		}
	case *types.Struct:
		for i := range t.NumFields() {
			if f := t.Field(i); f.Exported() {
				u.add(s, id+"."+f.Name(), "field")
			}
		}
	}
}

func (u *usage) add(s *source, id, kind string) {
	u.names[key(s.path, id)] = &name{pkg: s.path, dir: s.dir, id: id, kind: kind}
}

func isType(object types.Object) bool {
	t, ok := object.(*types.TypeName)
	return ok && !t.IsAlias()
}

func kindOf(object types.Object) string {
	switch object.(type) {
	case *types.Const:
		return "const"
	case *types.Var:
		return "var"
	case *types.TypeName:
		return "type"
	default:
		return "func"
	}
}

// mention marks what s uses of other packages, and what its examples use of its own.
func (u *usage) mention(s *source) {
	examples := exampleRanges(s)
	mark := func(at token.Pos, object types.Object) {
		switch {
		case object.Pkg() == nil:
		case slices.ContainsFunc(examples, func(n ast.Node) bool { return n.Pos() <= at && at < n.End() }):
			u.mark(object, byExample)
		case strings.TrimSuffix(object.Pkg().Path(), "_test") == s.path:
		case inTest(s, at):
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

// inTest tells whether at is in a test, a benchmark or a helper of tests.
func inTest(s *source, at token.Pos) bool {
	return strings.HasSuffix(s.fset.Position(at).Filename, "_test.go")
}

// countExamples counts the examples of each package that others can import, by directory.
func countExamples(sources []*source) map[string]int {
	examples := make(map[string]int)
	for _, s := range sources {
		if importable(s) {
			examples[s.dir] += 0
		}
	}
	for _, s := range sources {
		if _, ok := examples[s.dir]; ok {
			examples[s.dir] += len(exampleRanges(s))
		}
	}
	return examples
}

// exampleRanges are the examples that godoc shows: functions whose name begins with
// Example, and whole files with one such function.
func exampleRanges(s *source) []ast.Node {
	var ranges []ast.Node
	for _, file := range s.files {
		if !inTest(s, file.Pos()) {
			continue
		}
		var examples []ast.Node
		tests := 0
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			switch {
			case !ok || f.Recv != nil:
			case strings.HasPrefix(f.Name.Name, "Example"):
				examples = append(examples, f)
			case strings.HasPrefix(f.Name.Name, "Test"), strings.HasPrefix(f.Name.Name, "Benchmark"), strings.HasPrefix(f.Name.Name, "Fuzz"):
				tests++
			}
		}
		if len(examples) == 1 && tests == 0 {
			examples = []ast.Node{file}
		}
		ranges = append(ranges, examples...)
	}
	return ranges
}

// mark notes a use of object.
func (u *usage) mark(object types.Object, how use) {
	if n := u.names[keyOf(object)]; n != nil {
		n.use = max(n.use, how)
	}
}

// keyOf is the key of an object, "" if it cannot have one.
func keyOf(object types.Object) string {
	if object.Pkg() == nil {
		return ""
	}
	f, ok := object.(*types.Func)
	if !ok {
		return key(object.Pkg().Path(), object.Name())
	}
	receiver := f.Origin().Signature().Recv()
	if receiver == nil {
		return key(object.Pkg().Path(), object.Name())
	}
	t := receiver.Type()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok {
		return ""
	}
	return key(object.Pkg().Path(), named.Obj().Name()+"."+object.Name())
}

// satisfy marks the methods by which types satisfy interfaces, as s sees them: those of
// s and of its imports, and interfaces without a name in s.
func (u *usage) satisfy(s *source) {
	var (
		interfaces = []*types.Interface{errorInterface}
		candidates []*types.Named
	)
	visible := append([]*types.Package{s.pkg}, s.pkg.Imports()...)
	for _, p := range visible {
		scope := p.Scope()
		for _, id := range scope.Names() {
			object := scope.Lookup(id)
			named, ok := object.Type().(*types.Named)
			if !ok || !isType(object) {
				continue
			}
			if t, ok := named.Underlying().(*types.Interface); ok {
				interfaces = append(interfaces, t)
			} else if u.names[keyOf(object)] != nil {
				candidates = append(candidates, named)
			}
		}
	}
	for _, value := range s.info.Types {
		if t, ok := value.Type.(*types.Interface); ok {
			interfaces = append(interfaces, t)
		}
	}
	for _, t := range candidates {
		for _, i := range interfaces {
			if i.NumMethods() == 0 || !i.IsMethodSet() || !satisfies(t, i) {
				continue
			}
			for m := range i.NumMethods() {
				u.markMethod(t, i.Method(m).Name())
			}
		}
		u.markWellKnown(t)
	}
}

var errorInterface = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// satisfies tells whether t has the methods of i. Of types with parameters, the names of
// the methods count: which instances there are is not known here.
func satisfies(t *types.Named, i *types.Interface) bool {
	if t.TypeParams().Len() == 0 {
		return types.Implements(types.NewPointer(t), i)
	}
	for m := range i.NumMethods() {
		object, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, t.Obj().Pkg(), i.Method(m).Name())
		if _, ok := object.(*types.Func); !ok {
			return false
		}
	}
	return true
}

// wellKnown are methods that packages of the standard library call on values of any type,
// by interfaces that a type's package need not import.
var wellKnown = map[string]string{
	"String":          "func() string",
	"GoString":        "func() string",
	"Is":              "func(error) bool",
	"As":              "func(any) bool",
	"Unwrap":          "func() error",
	"AppendText":      "func([]byte) ([]byte, error)",
	"AppendBinary":    "func([]byte) ([]byte, error)",
	"MarshalText":     "func() ([]byte, error)",
	"MarshalBinary":   "func() ([]byte, error)",
	"MarshalJSON":     "func() ([]byte, error)",
	"UnmarshalText":   "func([]byte) error",
	"UnmarshalBinary": "func([]byte) error",
	"UnmarshalJSON":   "func([]byte) error",
}

func (u *usage) markWellKnown(t *types.Named) {
	for i := range t.NumMethods() {
		m := t.Method(i)
		signature := m.Signature()
		unnamed := types.NewSignatureType(nil, nil, nil, withoutNames(signature.Params()), withoutNames(signature.Results()), signature.Variadic())
		if want, ok := wellKnown[m.Name()]; ok && types.TypeString(unnamed, nil) == want {
			u.mark(m, byInterface)
		}
	}
}

func withoutNames(tuple *types.Tuple) *types.Tuple {
	variables := make([]*types.Var, tuple.Len())
	for i := range variables {
		variables[i] = types.NewParam(token.NoPos, nil, "", tuple.At(i).Type())
	}
	return types.NewTuple(variables...)
}

func (u *usage) markMethod(t *types.Named, method string) {
	object, _, _ := types.LookupFieldOrMethod(types.NewPointer(t), false, t.Obj().Pkg(), method)
	if object != nil {
		u.mark(object, byInterface)
	}
}

// follow marks the types that used names are made of: of the parameters and results of
// functions, the exported fields of types, of variables and constants. It marks the
// constants of a type that are declared beside one that is used.
func (u *usage) follow() {
	for _, s := range u.own {
		for _, file := range s.files {
			for _, declaration := range file.Decls {
				if d, ok := declaration.(*ast.GenDecl); ok && d.Tok == token.CONST {
					u.followConstants(s, d)
				}
			}
		}
	}
	objects := make(map[string]types.Object)
	for _, s := range u.own {
		scope := s.pkg.Scope()
		for _, id := range scope.Names() {
			objects[key(s.path, id)] = scope.Lookup(id)
		}
	}
	for changed := true; changed; {
		changed = false
		for k, n := range u.names {
			if n.use == unused || n.kind == "field" {
				continue
			}
			base, method, _ := strings.Cut(n.id, ".")
			object := objects[key(n.pkg, base)]
			if object == nil {
				panic(fmt.Sprintf("no object for %q", k))
			}
			each(object, method, func(t *types.TypeName) {
				if m := u.names[keyOf(t)]; m != nil && m.use == unused {
					m.use = byType
					changed = true
				}
			})
		}
	}
}

// followConstants marks the constants of an enumeration if one of them is used.
func (u *usage) followConstants(s *source, d *ast.GenDecl) {
	enumeration := make(map[*types.Named][]*name)
	for _, spec := range d.Specs {
		for _, identifier := range spec.(*ast.ValueSpec).Names {
			object := s.info.Defs[identifier]
			named, ok := object.Type().(*types.Named)
			if n := u.names[keyOf(object)]; ok && n != nil {
				enumeration[named] = append(enumeration[named], n)
			}
		}
	}
	for _, names := range enumeration {
		if !slices.ContainsFunc(names, func(n *name) bool { return n.use != unused }) {
			continue
		}
		for _, n := range names {
			n.use = max(n.use, byType)
		}
	}
}

// each calls f with the types that the declaration of object, or of its method, names.
func each(object types.Object, method string, f func(*types.TypeName)) {
	if method != "" {
		m, _, _ := types.LookupFieldOrMethod(types.NewPointer(object.Type()), false, object.Pkg(), method)
		if _, isInterface := object.Type().Underlying().(*types.Interface); isInterface {
			m, _, _ = types.LookupFieldOrMethod(object.Type(), false, object.Pkg(), method)
		}
		if m != nil {
			eachNamed(m.Type(), f)
		}
		return
	}
	eachNamed(object.Type(), f)
	if !isType(object) {
		return
	}
	if named, ok := object.Type().(*types.Named); ok {
		eachConstraint(named.TypeParams(), f)
	}
	switch t := object.Type().Underlying().(type) {
	case *types.Struct:
		for i := range t.NumFields() {
			if t.Field(i).Exported() {
				eachNamed(t.Field(i).Type(), f)
			}
		}
	default:
		eachNamed(t, f)
	}
}

func eachConstraint(parameters *types.TypeParamList, f func(*types.TypeName)) {
	for i := range parameters.Len() {
		eachNamed(parameters.At(i).Constraint(), f)
	}
}

// eachNamed calls f with the named types that t is written with.
func eachNamed(t types.Type, f func(*types.TypeName)) {
	switch t := t.(type) {
	case *types.Named:
		f(t.Origin().Obj())
		for i := range t.TypeArgs().Len() {
			eachNamed(t.TypeArgs().At(i), f)
		}
	case *types.Alias:
		f(t.Obj())
		eachNamed(types.Unalias(t), f)
	case *types.Pointer:
		eachNamed(t.Elem(), f)
	case *types.Slice:
		eachNamed(t.Elem(), f)
	case *types.Array:
		eachNamed(t.Elem(), f)
	case *types.Chan:
		eachNamed(t.Elem(), f)
	case *types.Map:
		eachNamed(t.Key(), f)
		eachNamed(t.Elem(), f)
	case *types.Tuple:
		for i := range t.Len() {
			eachNamed(t.At(i).Type(), f)
		}
	case *types.Signature:
		eachConstraint(t.TypeParams(), f)
		eachNamed(t.Params(), f)
		eachNamed(t.Results(), f)
	case *types.Interface:
		for i := range t.NumExplicitMethods() {
			eachNamed(t.ExplicitMethod(i).Type(), f)
		}
		for i := range t.NumEmbeddeds() {
			eachNamed(t.EmbeddedType(i), f)
		}
	case *types.Union:
		for i := range t.Len() {
			eachNamed(t.Term(i).Type(), f)
		}
	}
}
