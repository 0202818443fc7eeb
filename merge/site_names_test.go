package merge_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	. "github.com/reprise-trace/reprise/merge"
)

func siteName(value int64, name string) format.Name {
	return format.Name{Kind: cst.KindHandle, Class: layout.Site.Type.Class, Value: value, Name: name}
}

// numberedSites returns the names of sites as one that has seen only these numbers them.
func numberedSites(sites map[int64]string) (list []format.Name) {
	count := make(map[string]int)
	for _, site := range slices.Sorted(maps.Keys(sites)) {
		name := sites[site]
		if count[name]++; count[name] > 1 && len(name) <= layout.MaxSiteName {
			name += fmt.Sprintf(" #%d", count[name])
		}
		list = append(list, siteName(site, name))
	}
	return list
}

var ordinals = regexp.MustCompile(`(?s)^(.+?)( #[0-9]+)+$`)

// written returns names as a trace has them: of sites with other numbers for those of one name.
func written(list []format.Name) []format.Name {
	var sites []format.Name
	others := slices.DeleteFunc(slices.Clone(list), func(n format.Name) bool {
		if n.Class != layout.Site.Type.Class {
			return false
		}
		n.Name = ordinals.ReplaceAllString(n.Name, "$1")
		sites = append(sites, n)
		return true
	})
	named := make(map[int64]string)
	for _, n := range inOrder(sites) {
		named[n.Value] = n.Name
	}
	return inOrder(append(others, numberedSites(named)...))
}

// testSiteNames merges what ranks that have made calls in some sites each call them, now and then through
// part files: the names are those of one that has seen all.
func testSiteNames(t *rapid.T) {
	bases := []string{"a.c:7 f", "a.c:8 f", "f+0x1f", "a.c:7 f < b.c:1 main", " #2", " #", "a #b"}
	all := rapid.MapOfN(rapid.Int64Range(-20, 20), rapid.SampledFrom(bases), 1, 20).Draw(t, "sites")
	left := maps.Clone(all)
	var ranks []*Accumulator
	for len(left) > 0 {
		a := new(Accumulator)
		some := make(map[int64]string)
		for _, site := range rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(all))), 1, 10).Draw(t, "called") {
			some[site] = all[site]
			delete(left, site)
		}
		if err := a.Describe(Run{Names: numberedSites(some)}); err != nil {
			t.Fatal(err)
		}
		if list := open(t, traceFile(t, a)).Run().Names; !slices.Equal(list, numberedSites(some)) {
			t.Fatalf("%v alone: %v", some, list)
		}
		ranks = append(ranks, a)
	}
	if got, want := open(t, traceFile(t, mergeAll(t, ranks))).Run().Names,
		numberedSites(all); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestSiteNames(t *testing.T) { rapid.Check(t, testSiteNames) }

// TestSiteNamesOf checks names that no part numbers so, and that what is not a site keeps its name.
func TestSiteNamesOf(t *testing.T) {
	long := strings.Repeat("n", layout.MaxSiteName)
	comm := []format.Name{{Kind: cst.KindHandle, Class: "comm", Value: 1, Name: "a #2"},
		{Kind: cst.KindHandle, Class: "comm", Value: 2, Name: "a #2"}}
	tests := []struct {
		name        string
		names, want []format.Name
	}{
		{"First", []format.Name{siteName(1, "a #3")}, []format.Name{siteName(1, "a")}},
		{"Twice", []format.Name{siteName(1, "a #3 #2"), siteName(2, "a #2 #2")},
			[]format.Name{siteName(1, "a"), siteName(2, "a #2")}},
		{"Longest", []format.Name{siteName(1, long), siteName(2, long)},
			[]format.Name{siteName(1, long), siteName(2, long+" #2")}},
		{"TooLong", []format.Name{siteName(1, long+"n #2"), siteName(2, long+"n #2")},
			[]format.Name{siteName(1, long+"n #2"), siteName(2, long+"n #2")}},
		{"OtherClass", comm, comm},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var a Accumulator
			if err := a.Describe(Run{Names: tt.names}); err != nil {
				t.Fatal(err)
			}
			if got := open(t, traceFile(t, &a)).Run().Names; !slices.Equal(got, tt.want) {
				t.Errorf("%v, want %v", got, tt.want)
			}
			if got := open(t, traceFile(t, throughFile(t, &a))).Run().Names; !slices.Equal(got, tt.want) {
				t.Errorf("through a part file: %v, want %v", got, tt.want)
			}
		})
	}
}
