package slice

import (
	"slices"
	"strings"
	"testing"
)

// TestWithoutAliases checks that names stand in place of aliases, but not in texts, and that an alias of
// itself and lines that would grow stay.
func TestWithoutAliases(t *testing.T) {
	long := strings.Repeat("x", 1<<16)
	many := slices.Repeat([]string{"  call void @a()"}, 1<<8)
	for _, tt := range []struct{ lines, want []string }{
		{[]string{"@a = global i32 0"}, []string{"@a = global i32 0"}},
		{
			[]string{"@a = dso_local unnamed_addr alias void (ptr, i32), ptr @b",
				`@c = alias i32, ptr @"q r"`, "@d = thread_local(initialexec) alias i32, ptr @c",
				`@s = constant [2 x i8] c"@a", align 1`, "  call void @a(ptr @d, ptr @aa)", "@e = alias i32, ptr @e"},
			[]string{"", "", "", `@s = constant [2 x i8] c"@a", align 1`,
				`  call void @b(ptr @"q r", ptr @aa)`, "@e = alias i32, ptr @e"},
		},
		{append([]string{"@a = alias i32, ptr @" + long}, many...),
			append([]string{"@a = alias i32, ptr @" + long}, many...)},
	} {
		if got := withoutAliases(tt.lines); !slices.Equal(got, tt.want) {
			t.Errorf("%.300q, want %.300q", got, tt.want)
		}
	}
}
