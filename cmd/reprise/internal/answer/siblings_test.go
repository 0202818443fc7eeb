package answer

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/text"
)

// TestSiblings checks which communicators are summed up.
func TestSiblings(t *testing.T) {
	all := []relative{"world", "world/0", "", "world/1", "world/9"}
	for _, most := range []int{text.All, len(all)} {
		if rows := siblings(all, most); len(rows) != len(all) {
			t.Errorf("%d rows of %d", len(rows), len(all))
		}
	}
	rows := siblings(all, 2)
	var names []string
	for _, row := range rows {
		names = append(names, familyName(all, row))
	}
	if want := []string{"world", "world/*, 3 of them", "unknown"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if want := []int{1, 3, 4}; !slices.Equal(rows[1], want) {
		t.Errorf("summed up are %v, want %v", rows[1], want)
	}
}
