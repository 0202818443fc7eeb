package rankenc

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSetOfText(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"0", "0"},
		{"3,1 , 2", "1-3"},
		{"0-3,8", "0-3, 8"},
		{"0-6:3", "0-6:3"},
		{"0-8:3", "0-6:3"},
		{"(1-6)+8×7", "(1-6)+8×7"},
		{"(1-6)+8x7", "(1-6)+8×7"},
		{"( (1,3)+4*2 ) + 16 * 2", "(1-7:2)+16×2"},
		{"5-5", "5"},
		{"63", "63"},
	} {
		s, err := SetOfText(tt.text, 64)
		if err != nil || s.String() != tt.want {
			t.Errorf("SetOfText(%q) = %v, %v, want %s", tt.text, s, err, tt.want)
		}
	}
	if s, err := SetOfText("2147483600-2147483646", MaxRank+1); err != nil || s.Len() != 47 {
		t.Errorf("the highest ranks: %v, %v", s, err)
	}
}

func TestSetOfTextErrors(t *testing.T) {
	for _, tt := range []struct {
		text string
		size int
		want string
	}{
		{"", 64, "a rank is missing at the end"},
		{"a", 64, `"a" is no rank`},
		{"-1", 64, `"-1" is no rank`},
		{"1,", 64, "a rank is missing at the end"},
		{"1 2", 64, `"2" is not expected`},
		{"64", 64, "the rank 64 is beyond 63"},
		{"99999999999999999999", 64, "the rank 99999999999999999999 is beyond 63"},
		{"0", 0, "there are no ranks"},
		{"5-3", 64, "5-3 is backwards"},
		{"0-9:0", 64, "a step is 1 at least"},
		{"(1-6", 64, ") is missing"},
		{"(1-6)", 64, "+ is missing"},
		{"(1-6)+8", 64, "× is missing"},
		{"(1-6)+8×0", 64, "there is a copy at least"},
		{"(1-6)+8×9", 64, "the rank 70 is beyond 63"},
		{"(0-9)+0×99999999", 64, "more than 16777216 ranks"},
		{"0-2147483646", MaxRank + 1, "more than 16777216 ranks"},
		{strings.Repeat("(", 9) + "1", 64, "deeper than 8"},
	} {
		if s, err := SetOfText(tt.text, tt.size); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("SetOfText(%q) = %v, %v, want %q", tt.text, s, err, tt.want)
		}
	}
}

// TestSetOfTextInverse checks that the text of any set is read as that set.
func TestSetOfTextInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := SetOf(rapid.SliceOfN(rapid.IntRange(0, 300), 1, 200).Draw(t, "ranks")...)
		if got, err := SetOfText(want.String(), 301); err != nil || !got.Equal(want) {
			t.Fatalf("%v is read as %v, %v", want, got, err)
		}
	})
}
