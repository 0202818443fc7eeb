package slice

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// looping returns a module that sends with tags that instructions compute of %i, which a loop counts from one
// number as long as it is less than another, or greater if it counts down. If late is set, the loop asks that only
// afterwards, and sends with 5 in the end. A function sends.
func looping(begin, step, end int, instructions []string, guard string, late bool) string {
	relation := "slt"
	if step < 0 {
		relation = "sgt"
	}
	ask := "\n  %more = icmp " + relation + " i32 %i, " + strconv.Itoa(end) + "\n  br i1 %more, label "
	before, after := ask+"%body, label %end", "\n  br label %loop"
	last := ""
	if late {
		last = "  call void @send(i32 5)\n"
		before, after = "\n  br label %body", ask+"%loop, label %end"
	}
	return fmt.Sprintf(`
declare i32 @MPI_Send(ptr, i32, i32, i32, i32, i32)

define void @send(i32 %%tag) {
entry:
  %%status = call i32 @MPI_Send(ptr null, i32 0, i32 1275069445, i32 1, i32 %%tag, i32 1140850688)
  ret void
}

define i32 @main() {
entry:
  br label %%loop

loop:
  %%i = phi i32 [ %d, %%entry ], [ %%next, %%latch ]%s

body:
  %s
  %%fine = icmp %s
  br i1 %%fine, label %%send, label %%latch

send:
  call void @send(i32 %%x)
  br label %%latch

latch:
  %%next = add nsw i32 %%i, %d%s

end:
%s  ret i32 0
}
`, begin, before, strings.Join(instructions, "\n  "), guard, step, after, last)
}

// A drawnValue is an instruction with what it computes.
type drawnValue struct {
	text  string
	value func(values map[string]int64) int64
}

// drawValues draws instructions that compute %x of %i.
func drawValues(t *rapid.T) (list []drawnValue, texts []string) {
	names := []string{"%i"}
	n := rapid.IntRange(1, 5).Draw(t, "instructions")
	for k := range n {
		name := "%v" + strconv.Itoa(k)
		if k == n-1 {
			name = "%x"
		}
		a := rapid.SampledFrom(names).Draw(t, "of")
		number := rapid.Int64Range(-9, 40).Draw(t, "number")
		ops := map[string]func(a, b int64) int64{
			"add nsw": func(a, b int64) int64 { return a + b }, "sub nsw": func(a, b int64) int64 { return a - b },
			"mul nsw": func(a, b int64) int64 { return a * b },
		}
		if number > 0 {
			ops["srem"] = func(a, b int64) int64 { return a % b }
			ops["and"] = func(a, b int64) int64 { return a & b }
		}
		op := rapid.SampledFrom(slices.Sorted(maps.Keys(ops))).Draw(t, "op")
		text := fmt.Sprintf("%s = %s i32 %s, %d", name, op, a, number)
		value := func(values map[string]int64) int64 { return ops[op](values[a], number) }
		if b := rapid.SampledFrom(names).Draw(t, "or"); rapid.IntRange(0, 4).Draw(t, "select") == 0 {
			text = fmt.Sprintf("%%is%d = icmp sgt i32 %s, %d\n  %s = select i1 %%is%d, i32 %s, i32 %s",
				k, a, number, name, k, a, b)
			value = func(values map[string]int64) int64 {
				if values[a] > number {
					return values[a]
				}
				return values[b]
			}
		}
		list = append(list, drawnValue{text, func(values map[string]int64) int64 {
			values[name] = value(values)
			return values[name]
		}})
		names = append(names, name)
	}
	for _, v := range list {
		texts = append(texts, v.text)
	}
	return list, texts
}

// TestBounds checks that all tags that a loop sends with are within the bounds that are found for them.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begin, end := rapid.IntRange(-5, 20).Draw(t, "begin"), rapid.IntRange(-5, 40).Draw(t, "end")
		step := rapid.IntRange(1, 7).Draw(t, "step") * rapid.SampledFrom([]int{1, 1, -1}).Draw(t, "direction")
		list, texts := drawValues(t)
		relation := rapid.SampledFrom([]string{"slt", "sle", "sgt", "sge", "eq", "ne"}).Draw(t, "guard")
		limit := rapid.Int64Range(-50, 50).Draw(t, "limit")
		guard := fmt.Sprintf("%s i32 %%x, %d", relation, limit)
		late := rapid.Bool().Draw(t, "late")
		m, err := Read([]byte(looping(begin, step, end, texts, guard, late)))
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSlicer(m, Options{Wildcards: true, AnySource: -2, AnyTag: -1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		s.note()
		b := s.tags(s.calls[0], s.calls[0].effects[0], "tag")
		if late && (b.least > 5 || b.most < 5) {
			t.Fatalf("5 is sent with, which is not from %d to %d", b.least, b.most)
		}
		goesOn := func(i int) bool { return step > 0 && i < end || step < 0 && i > end }
		for i := begin; goesOn(i) || late && (i == begin || goesOn(i-step)); i += step {
			values := map[string]int64{"%i": int64(i)}
			var x int64
			for _, v := range list {
				x = v.value(values)
			}
			holds, _ := compare("%fine = icmp "+relation+" ", x, limit)
			if holds && (x < b.least || x > b.most) {
				t.Fatalf("%d is sent with, which is not from %d to %d:\n%s\n%s", x, b.least, b.most,
					strings.Join(texts, "\n"), guard)
			}
		}
	})
}

// TestBoundsFound checks that bounds are found for tags that count from a number.
func TestBoundsFound(t *testing.T) {
	for _, tt := range []struct {
		instruction string
		want        bound
	}{
		{"%x = add nsw i32 %i, 20", bound{20, 29}},
		{"%x = mul nsw i32 %i, 2", bound{0, 18}},
		{"%x = srem i32 %i, 3", bound{0, 2}},
		{"%x = and i32 %i, 1", bound{0, 1}},
		{"%x = add i32 %i, 20", anyNumber()},
	} {
		m, err := Read([]byte(looping(0, 1, 10, []string{tt.instruction}, "ne i32 %x, 77", false)))
		if err != nil {
			t.Fatal(err)
		}
		s, err := newSlicer(m, Options{Wildcards: true, AnySource: -2, AnyTag: -1 << 40})
		if err != nil {
			t.Fatal(err)
		}
		s.note()
		if got := s.tags(s.calls[0], s.calls[0].effects[0], "tag"); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.instruction, got, tt.want)
		}
	}
}
