package slicing

import (
	"bytes"
	"testing"
)

func TestPlainMembers(t *testing.T) {
	const call = "  %moved = getelementptr inbounds i8, ptr %this, i64 %memptr.adj3\n" +
		"  br i1 %memptr.isvirtual4, label %a, label %b\n"
	const plain = "@f = global { i64, i64 } { i64 ptrtoint (ptr @g to i64), i64 0 }\n"
	for _, tt := range []struct {
		name, constants string
		virtual, moved  bool
	}{
		{"None", "", false, false},
		{"Plain", plain, false, false},
		{"Virtual", plain + "@v = global { i64, i64 } { i64 17, i64 0 }\n", true, false},
		{"Moved", plain + "  store { i64, i64 } { i64 ptrtoint (ptr @h to i64), i64 8 }, ptr %p\n", false, true},
		{"Null", "@n = global { i64, i64 } { i64 0, i64 0 }\n", false, false},
		{"Converted", plain + "  %c = insertvalue { i64, i64 } %m, i64 %a, 1\n", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := plainMembers([]byte(tt.constants + call))
			if virtual := bytes.Contains(got, []byte("br i1 %memptr")); virtual != tt.virtual {
				t.Errorf("virtual functions: %v, want %v", virtual, tt.virtual)
			}
			if moved := bytes.Contains(got, []byte("i64 %memptr.adj3")); moved != tt.moved {
				t.Errorf("objects that move: %v, want %v", moved, tt.moved)
			}
		})
	}
}
