package slice

import (
	"os"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// FuzzRead reads modules that nobody vouches for. One that is accepted can be sliced or is refused with an
// error, and what is written of it whole is accepted again.
func FuzzRead(f *testing.F) {
	text, err := os.ReadFile("testdata/ring.ll")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("declare i32 @MPI_Send(ptr, i32, i32, i32, i32, i32)\ndefine i32 @main() {\nbb:\n  %x = call i32 @MPI_Send(ptr null, i32 0, i32 0, i32 0, i32 0, i32 0)\n" +
		"  switch i32 %x, label %c [\n    i32 1, label %c\n  ]\n\nc:\n  %y = phi i32 [ 1, %bb ], [ 1, %bb ]\n  ret i32 %y\n}\n"))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		m, err := Read(data)
		if err != nil {
			return
		}
		whole := m.AppendWhole(nil)
		if m.named["@llvm.compiler.used"] == nil && m.named["@"+ExecutedSymbol] == nil {
			if _, err := Read(whole); err != nil {
				t.Fatalf("%v in\n%s", err, whole)
			}
		}
		s, err := Cut(m, Options{})
		if err != nil {
			return
		}
		_, _ = s.AppendText(nil)
	})
}
