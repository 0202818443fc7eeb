package slice

import (
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// walk returns the instructions of a run of a function, as far as they are not too many, with any outcome of
// branches and any function that a call may be of.
func walk(f *function, r *rand.Rand, depth int, run []*instruction) []*instruction {
	const longest = 150
	for b := f.blocks[0]; b != nil; {
		for _, i := range b.instructions {
			if run = append(run, i); len(run) >= longest {
				return run
			}
			if len(i.targets) > 0 && depth < 20 {
				run = walk(i.targets[r.IntN(len(i.targets))], r, depth+1, run)
			}
		}
		if next := b.succ; len(next) > 0 {
			b = next[r.IntN(len(next))]
		} else {
			b = nil
		}
	}
	return run
}

// TestOrder checks that what runs before something in a run is known to do so.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		below := func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "choice") }
		g := &generator{below: below, functions: 1 + below(4), kinds: allKinds - 2}
		m, err := Read([]byte(g.module(1 + below(20))))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Cut(m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := newOrder(s.memory)
		seed := rapid.Uint64().Draw(t, "seed")
		run := walk(m.named["@main"].(*function), rand.New(rand.NewPCG(seed, 0)), 0, nil)
		for k, second := range run {
			for _, first := range run[:k] {
				if !o.precedes(first, second) {
					t.Fatalf("%s of %s runs before %s of %s", first.text, first.block.of.name, second.text,
						second.block.of.name)
				}
			}
		}
	})
}

// TestOrderOfCalls checks that what a function does is not before what runs before the call of it, though in
// the same block.
func TestOrderOfCalls(t *testing.T) {
	m, text := sliced(t, `declare i32 @MPI_Init(ptr, ptr)
declare i32 @MPI_Dims_create(i32, i32, ptr)
declare i32 @MPI_Send(ptr, i32, i32, i32, i32, i32)
@d = global [3 x i32] zeroinitializer
define void @f(ptr %a) {
bb:
  store i32 1, ptr %a
  ret void
}
define i32 @main(i32 %n, ptr %v) {
bb:
  %x = alloca i32
  %y = alloca ptr
  store ptr %v, ptr %y
  %i = call i32 @MPI_Init(ptr %x, ptr %y)
  %j = call i32 @MPI_Dims_create(i32 4, i32 3, ptr @d)
  %k = load i32, ptr @d
  %s = call i32 @MPI_Send(ptr null, i32 %k, i32 1, i32 0, i32 1, i32 2)
  call void @f(ptr %x)
  call void @f(ptr @d)
  ret i32 0
}
`)
	if strings.Contains(text, "call void @f") {
		t.Errorf("a call is kept after which nothing is read:\n%s", text)
	}
	if d := m.named["@d"].(*global).object; d.escaped || len(d.cells) > 0 {
		t.Errorf("numbers of MPI_Dims_create are known as addresses: %v %v", d.escaped, d.cells)
	}
}

// sliced returns a module of LLVM IR and the text of its slice.
func sliced(t *testing.T, text string) (*Module, string) {
	t.Helper()
	m, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Cut(m, Options{Wildcards: true, AnySource: -2, AnyTag: -1})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.AppendText(nil)
	if err != nil {
		t.Fatal(err)
	}
	return m, string(out)
}
