// Package mutate runs the body of a fuzz target on mutated inputs in the process of the test.
//
// The fuzzer of the go command watches which code each input reaches, which takes longer than most of the
// bodies here do. With -mutate 1m a target runs for a minute on mutations of what is known of it: what its
// test adds, what is in its testdata, and what the fuzzer has found and keeps in the build cache. Nothing is
// learned meanwhile, so this comes after the fuzzer, and not in its place. An input that fails is written to
// testdata, as the fuzzer does.
//
//	go test ./format -run FuzzOpen -mutate 1m
package mutate

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

var (
	duration = flag.Duration("mutate", 0, "how long fuzz targets run on mutated inputs")
	cached   = flag.String("mutatecache", "", "the `directory` with what the fuzzer has found of the package")
	seed     = flag.Uint64("mutateseed", 1, "of the mutations")
)

// Fuzz is f.Fuzz, whose argument is body: a function of a *testing.T, bytes or a string, and other values
// that f.Fuzz takes.
func Fuzz(f *testing.F, body any) {
	if *duration <= 0 {
		f.Fuzz(body)
		return
	}
	l := newLoop(f.Name(), body)
	l.read(f, *cached)
	of := l.body.Type()
	last := make([]any, of.NumIn()-1) // after which all inputs are known that the test has added
	for i := range last {
		last[i] = reflect.Zero(of.In(i + 1)).Interface()
	}
	last[0] = reflect.ValueOf(endOfInputs).Convert(of.In(1)).Interface()
	f.Add(last...)
	f.Fuzz(reflect.MakeFunc(of, func(args []reflect.Value) []reflect.Value {
		input := slices.Clone(args[1:])
		if reflect.DeepEqual(input[0].Interface(), last[0]) {
			l.run(args[0].Interface().(*testing.T))
		} else {
			l.inputs = append(l.inputs, input)
		}
		return nil
	}).Interface())
}

const endOfInputs = "these are all inputs"

// A loop runs a body on mutated inputs.
type loop struct {
	body       reflect.Value
	name       string
	inputs     [][]reflect.Value
	until      time.Time
	random     *rand.Rand
	executions uint64
}

func newLoop(name string, body any) *loop {
	return &loop{body: reflect.ValueOf(body), name: name, until: time.Now().Add(*duration),
		random: rand.New(rand.NewPCG(*seed, 0))}
}

// batch is after how many executions the time is looked at, and what tests leave is removed.
const batch = 256

// run runs the body until the time is over or it fails.
func (l *loop) run(t *testing.T) {
	if of := l.body.Type(); len(l.inputs) == 0 { // then the first is one of zeros
		first := make([]reflect.Value, of.NumIn()-1)
		for i := range first {
			first[i] = reflect.Zero(of.In(i + 1))
		}
		l.inputs = append(l.inputs, first)
	}
	for !t.Failed() && time.Now().Before(l.until) {
		t.Run("inputs", func(t *testing.T) {
			for left := batch; left > 0 && !t.Failed(); {
				ended := make(chan struct{})
				go func() { // which a body ends that skips an input
					defer close(ended)
					for ; left > 0 && !t.Failed(); l.execute(t) {
						left--
					}
				}()
				<-ended
			}
		})
	}
	fmt.Printf("mutate: executions: %d\n", l.executions)
}

// execute runs the body once.
func (l *loop) execute(t *testing.T) {
	input := l.mutated()
	l.executions++
	defer func() {
		if r := recover(); r != nil {
			l.keep(t, input)
			panic(r)
		} else if t.Failed() {
			l.keep(t, input)
		}
	}()
	l.body.Call(append([]reflect.Value{reflect.ValueOf(t)}, input...))
}

// mutated returns an input that is another but for one change or a few.
func (l *loop) mutated() []reflect.Value {
	input := slices.Clone(l.inputs[l.random.IntN(len(l.inputs))])
	changed := l.random.IntN(len(input))
	for i, v := range input {
		if i != changed && l.random.IntN(4) > 0 {
			continue
		}
		other := l.inputs[l.random.IntN(len(l.inputs))][i]
		input[i] = l.value(v, other)
	}
	return input
}

// value returns a mutation of a value, which may have something of another.
func (l *loop) value(v, other reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Slice, reflect.String:
		bytes := reflect.TypeFor[[]byte]()
		b := slices.Clone(v.Convert(bytes).Bytes())
		for n := 1 << l.random.IntN(4); n > 0; n-- {
			b = l.bytes(b, other.Convert(bytes).Bytes())
		}
		return reflect.ValueOf(b).Convert(v.Type())
	case reflect.Bool:
		return reflect.ValueOf(l.random.IntN(2) == 0).Convert(v.Type())
	default:
		return reflect.ValueOf(l.number()).Convert(v.Type())
	}
}

// number returns a number, small or large.
func (l *loop) number() int64 {
	n := int64(l.random.Uint64() >> l.random.IntN(64))
	switch l.random.IntN(3) {
	case 0:
		return 1<<l.random.IntN(64) + int64(l.random.IntN(3)) - 1
	case 1:
		return -n
	}
	return n
}
