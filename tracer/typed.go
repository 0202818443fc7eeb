package tracer

import "github.com/reprise-trace/reprise/cst"

// Func1 to Func5 declare functions with as many arguments: the name of the function, and
// those of its parameters, whose kinds follow from the types. The compiler checks every
// call.
//
//	var read = tracer.Func2[tracer.Handle[file], int]("read", "file", "out bytes")
//
//	begun := thread.Begin()
//	n, err := f.Read(b)
//	read.End(thread, begun, 3, n)
//
// "out " before the name of a parameter says that it is a result, which is known when the
// call has returned, and "inout " that the call changes it. No integer may be named thread,
// see [Func]. Functions without parameters, with more of them, or with arrays of arrays,
// come from [Func].
func Func1[A Argument](name string, p1 string) (f Function1[A]) {
	of := cst.Function{Name: name}
	f.a.add(&of, p1)
	f.f = Func(of)
	return f
}

// Func2 is [Func1] for 2 parameters.
func Func2[A, B Argument](name string, p1, p2 string) (f Function2[A, B]) {
	of := cst.Function{Name: name}
	f.a.add(&of, p1)
	f.b.add(&of, p2)
	f.f = Func(of)
	return f
}

// Func3 is [Func1] for 3 parameters.
func Func3[A, B, C Argument](name string, p1, p2, p3 string) (f Function3[A, B, C]) {
	of := cst.Function{Name: name}
	f.a.add(&of, p1)
	f.b.add(&of, p2)
	f.c.add(&of, p3)
	f.f = Func(of)
	return f
}

// Func4 is [Func1] for 4 parameters.
func Func4[A, B, C, D Argument](name string, p1, p2, p3, p4 string) (f Function4[A, B, C, D]) {
	of := cst.Function{Name: name}
	f.a.add(&of, p1)
	f.b.add(&of, p2)
	f.c.add(&of, p3)
	f.d.add(&of, p4)
	f.f = Func(of)
	return f
}

// Func5 is [Func1] for 5 parameters.
func Func5[A, B, C, D, E Argument](name string, p1, p2, p3, p4, p5 string) (f Function5[A, B, C, D, E]) {
	of := cst.Function{Name: name}
	f.a.add(&of, p1)
	f.b.add(&of, p2)
	f.c.add(&of, p3)
	f.d.add(&of, p4)
	f.e.add(&of, p5)
	f.f = Func(of)
	return f
}

// A Function1 is a function with 1 argument; see [Func1].
type Function1[A Argument] struct {
	f *Function
	a param[A]
}

// End records a call that began at a moment and ends now, as [Thread.End] does.
func (f *Function1[A]) End(t *Thread, begun Moment, a A) {
	t.End(f.f, begun, f.a.of(a))
}

// A Function2 is a function with 2 arguments; see [Func2].
type Function2[A, B Argument] struct {
	f *Function
	a param[A]
	b param[B]
}

// End records a call that began at a moment and ends now, as [Thread.End] does.
func (f *Function2[A, B]) End(t *Thread, begun Moment, a A, b B) {
	t.End(f.f, begun, f.a.of(a), f.b.of(b))
}

// A Function3 is a function with 3 arguments; see [Func3].
type Function3[A, B, C Argument] struct {
	f *Function
	a param[A]
	b param[B]
	c param[C]
}

// End records a call that began at a moment and ends now, as [Thread.End] does.
func (f *Function3[A, B, C]) End(t *Thread, begun Moment, a A, b B, c C) {
	t.End(f.f, begun, f.a.of(a), f.b.of(b), f.c.of(c))
}

// A Function4 is a function with 4 arguments; see [Func4].
type Function4[A, B, C, D Argument] struct {
	f *Function
	a param[A]
	b param[B]
	c param[C]
	d param[D]
}

// End records a call that began at a moment and ends now, as [Thread.End] does.
func (f *Function4[A, B, C, D]) End(t *Thread, begun Moment, a A, b B, c C, d D) {
	t.End(f.f, begun, f.a.of(a), f.b.of(b), f.c.of(c), f.d.of(d))
}

// A Function5 is a function with 5 arguments; see [Func5].
type Function5[A, B, C, D, E Argument] struct {
	f *Function
	a param[A]
	b param[B]
	c param[C]
	d param[D]
	e param[E]
}

// End records a call that began at a moment and ends now, as [Thread.End] does.
func (f *Function5[A, B, C, D, E]) End(t *Thread, begun Moment, a A, b B, c C, d D, e E) {
	t.End(f.f, begun, f.a.of(a), f.b.of(b), f.c.of(c), f.d.of(d), f.e.of(e))
}
