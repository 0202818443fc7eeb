package misuse

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
)

// A Walk calls all that a package exports, with arguments of which some are sound and others are not: nil,
// zero, negative, beyond every end. What comes back is an argument and a receiver of the next calls. A call
// returns, or panics with a text that begins with the name of a package and a colon: an error of the runtime
// says nothing to who made the mistake. What only the package can make, an argument is or is nil, and a
// receiver is.
type Walk struct {
	Package   string            // the last element of its path
	Functions []any             // all that the package exports but those in Left, which the test checks
	Values    []any             // arguments and receivers, besides what functions return
	Never     bool              // a call does not even panic with a text
	Left      map[string]string // why some are not called, by Name or Type.Name, or Type for all methods
}

// Run walks the package in whose directory the test runs.
func (w Walk) Run(t *testing.T) {
	names := exported(t)
	t.Chdir(t.TempDir())
	p := &pool{name: w.Package, values: make(map[reflect.Type][]reflect.Value), seen: make(map[string]bool)}
	for _, v := range w.Values {
		p.add(reflect.ValueOf(v))
	}
	known, wrong := make(map[string]bool), make(map[string]bool)
	for _, f := range w.Functions {
		name := nameOf(f)
		known[name] = true
		w.call(t, p, name, false, func() reflect.Value { return reflect.ValueOf(f) })
	}
	for n := 0; n < len(p.order); n++ { // which grows
		receiver := p.order[n]
		name := receiver.Type().Name()
		if receiver.Kind() == reflect.Pointer {
			name = receiver.Type().Elem().Name()
		}
		name, _, _ = strings.Cut(name, "[") // of what is generic
		if packageOf(receiver.Type()) != w.Package {
			continue
		}
		filled := fillable(receiver)
		for i := range receiver.NumMethod() {
			method := name + "." + receiver.Type().Method(i).Name
			known[method] = true
			if w.Left[method] == "" && w.Left[name] == "" && !wrong[method] {
				alike := !filled && receiver.Method(i).Type().NumIn() == 0
				wrong[method] = !w.call(t, p, method, alike, func() reflect.Value {
					if filled && p.rand.IntN(2) == 0 {
						return p.another(receiver).Method(i)
					}
					return receiver.Method(i)
				})
			}
		}
	}
	for _, name := range names {
		of, _, _ := strings.Cut(name, ".")
		if !known[name] && w.Left[name] == "" && w.Left[of] == "" {
			t.Errorf("%s is not called, and nothing says why", name)
		}
	}
}

var ownText = regexp.MustCompile(`^[a-z]+: `)

// call calls a function some times, or once if all calls would be alike, and reports the first call that ends
// as it must not: then it is false.
func (w Walk) call(t *testing.T, p *pool, name string, alike bool, choose func() reflect.Value) bool {
	h := fnv.New64a()
	h.Write([]byte(name))
	p.rand = rand.New(rand.NewPCG(h.Sum64(), 1))
	most := 40
	if tier.Nightly {
		most = 400
	}
	if alike {
		most = 1
	}
	for range most {
		f := choose()
		args := make([]reflect.Value, f.Type().NumIn())
		for i := range args {
			args[i] = p.draw(f.Type().In(i), 0)
		}
		problem := panicOf(func() {
			var results []reflect.Value
			if f.Type().IsVariadic() {
				results = f.CallSlice(args)
			} else {
				results = f.Call(args)
			}
			for _, r := range results {
				p.follow(r)
			}
		})
		if text, ok := problem.(string); problem == nil || ok && ownText.MatchString(text) && !w.Never {
			continue
		}
		what := "panic"
		if _, ok := problem.(runtime.Error); ok {
			what = "an error of the runtime"
		}
		t.Errorf("%s(%s): %s: %v", name, describe(args), what, problem)
		return false
	}
	return true
}

func describe(args []reflect.Value) string {
	var list []string
	for _, a := range args {
		text := a.Type().String()
		switch a.Kind() {
		case reflect.Pointer, reflect.Func, reflect.Interface:
			if a.IsNil() {
				text = "nil " + text
			}
		default:
			text = fmt.Sprintf("%s %#v", text, a)
		}
		list = append(list, text[:min(len(text), 200)])
	}
	return strings.Join(list, ", ")
}

// packageOf returns the last element of the path of the package of a type, or of what it points to.
func packageOf(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return path.Base(t.PkgPath())
}

func nameOf(f any) string {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	name = strings.TrimSuffix(name, "[...]")
	return name[strings.LastIndexByte(name, '.')+1:]
}

// exported returns the names of what the package in this directory exports: functions, and methods of types.
func exported(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !f.Name.IsExported() {
				continue
			}
			if f.Recv == nil {
				names = append(names, f.Name.Name)
				continue
			}
			of := f.Recv.List[0].Type
			if s, ok := of.(*ast.StarExpr); ok {
				of = s.X
			}
			switch x := of.(type) {
			case *ast.IndexExpr:
				of = x.X
			case *ast.IndexListExpr:
				of = x.X
			}
			if of, ok := of.(*ast.Ident); ok && of.IsExported() {
				names = append(names, of.Name+"."+f.Name.Name)
			}
		}
	}
	return names
}

// A pool has the sound values that were met, by type.
type pool struct {
	name   string // of the package
	values map[reflect.Type][]reflect.Value
	order  []reflect.Value
	seen   map[string]bool
	rand   *rand.Rand
}

const mostOfType = 4

// add takes a value, and those of its fields, and theirs, whose types the package exports with methods.
func (p *pool) add(v reflect.Value) {
	if !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Func, reflect.Interface:
		if v.IsNil() {
			return
		}
	}
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if len(p.values[v.Type()]) == mostOfType {
		return
	}
	p.values[v.Type()] = append(p.values[v.Type()], v)
	if v.NumMethod() > 0 && strings.Contains(v.Type().String(), ".") {
		p.order = append(p.order, v)
		if v.CanInt() || v.CanUint() { // one that stands for nothing
			p.order = append(p.order, reflect.ValueOf(int8(-1)).Convert(v.Type()))
		}
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice && v.Len() > 0 {
		v = v.Index(0)
	}
	if v.Kind() != reflect.Struct || packageOf(v.Type()) != p.name {
		return
	}
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			p.addField(v.Field(i))
		}
	}
}

func (p *pool) addField(v reflect.Value) {
	if v.Kind() == reflect.Slice && v.Len() > 0 {
		v = v.Index(0)
	}
	if packageOf(v.Type()) != p.name {
		return
	}
	if v.Kind() == reflect.Struct && v.CanAddr() {
		v = v.Addr()
	}
	p.add(v)
}

// follow takes a result: of a sequence, its first elements.
func (p *pool) follow(v reflect.Value) {
	if v.Kind() != reflect.Func || v.IsNil() || v.Type().NumIn() != 1 || v.Type().In(0).Kind() != reflect.Func {
		if _, ok := v.Interface().(error); !ok {
			p.add(v)
		}
		return
	}
	left := 3
	v.Call([]reflect.Value{reflect.MakeFunc(v.Type().In(0), func(args []reflect.Value) []reflect.Value {
		for _, a := range args {
			if _, ok := a.Interface().(error); !ok {
				p.add(a)
			}
		}
		left--
		return []reflect.Value{reflect.ValueOf(left > 0)}
	})})
}

var contextType = reflect.TypeFor[context.Context]()

// draw returns a value of a type.
func (p *pool) draw(t reflect.Type, depth int) reflect.Value {
	if t == contextType { // nil is what nobody passes
		return reflect.ValueOf(context.Background())
	}
	if sound := p.sound(t); len(sound) > 0 && p.rand.IntN(4) > 0 {
		v := reflect.New(t).Elem()
		v.Set(sound[p.rand.IntN(len(sound))])
		return v
	}
	return p.fill(t, depth)
}

// fill returns a value of a type that need not be sound.
func (p *pool) fill(t reflect.Type, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	if depth > 4 {
		return v
	}
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(p.rand.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(pick(p, -1, 0, 1, 2, 3, 1<<7, 1<<31, 1<<40, math.MinInt64, math.MaxInt64, int64(p.rand.IntN(8))))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(pick(p, 0, 1, 2, 3, 1<<31, 1<<40, math.MaxUint64, uint64(p.rand.IntN(8))))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(pick(p, 0, -1, 0.5, 1, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64))
	case reflect.String:
		v.SetString(pick(p, "", "x", "-", "\x00", "comm", "MPI_Send"))
	case reflect.Slice:
		if n := p.rand.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(t, n-1, n-1))
			for i := range n - 1 {
				v.Index(i).Set(p.draw(t.Elem(), depth+1))
			}
		}
	case reflect.Array:
		for i := range t.Len() {
			v.Index(i).Set(p.draw(t.Elem(), depth+1))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && p.rand.IntN(2) == 0 {
				v.Field(i).Set(p.draw(t.Field(i).Type, depth+1))
			}
		}
	case reflect.Pointer:
		if p.rand.IntN(2) == 0 && open(t.Elem()) {
			v.Set(reflect.New(t.Elem()))
			v.Elem().Set(p.draw(t.Elem(), depth+1))
		}
	case reflect.Func:
		if p.rand.IntN(2) == 0 {
			v.Set(reflect.MakeFunc(t, func([]reflect.Value) (results []reflect.Value) {
				for i := range t.NumOut() {
					results = append(results, reflect.Zero(t.Out(i)))
				}
				return results
			}))
		}
	}
	return v
}

// sound returns what can be assigned to a type.
func (p *pool) sound(t reflect.Type) []reflect.Value {
	if t.Kind() != reflect.Interface {
		return p.values[t]
	}
	var list []reflect.Value
	if t.NumMethod() > 0 {
		for _, v := range p.order {
			if v.Type().Implements(t) {
				list = append(list, v)
			}
		}
	}
	return list
}

// fillable reports whether a receiver is a struct that anybody may fill in. Errors are filled in by who
// returns them.
func fillable(v reflect.Value) bool {
	t := v.Type()
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	_, isError := v.Interface().(error)
	return t.Kind() == reflect.Struct && open(t) && !isError
}

// another returns another receiver of the type of one.
func (p *pool) another(v reflect.Value) reflect.Value {
	if v.Kind() != reflect.Pointer {
		return p.fill(v.Type(), 0)
	}
	other := reflect.New(v.Type().Elem())
	other.Elem().Set(p.fill(v.Type().Elem(), 0))
	return other
}

// open reports whether a type is one that anybody may fill in.
func open(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return true
	}
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return false
		}
	}
	return true
}

func pick[T any](p *pool, values ...T) T { return values[p.rand.IntN(len(values))] }
