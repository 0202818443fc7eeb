package layout

import (
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
)

// Site is the parameter that says where in the program a call was made.
var Site = cst.Param{Name: "site", Type: cst.HandleOf("site"), Direction: cst.In}

// PathBit is set in the sites of calls with those that led to them, whose lowest PathBits are
// a hash of the latter.
const (
	PathBit  = 1 << 62
	PathBits = 32
)

// Place returns what sites share that differ only in the calls that led to them: the least of
// them.
func Place(site int64) int64 {
	if site >= PathBit {
		return site &^ (1<<PathBits - 1)
	}
	return site
}

// SiteOf returns which parameter of f is the site, −1 if there is none.
func SiteOf(f *cst.Function) int {
	return slices.IndexFunc(f.Params, func(p cst.Param) bool { return p.Name == Site.Name && p.Type.Equal(Site.Type) })
}

// SiteSlot returns the slot of the site in signatures of f whose arrays have these lengths, −1 if f has none.
func SiteSlot(f *cst.Function, lengths []int) int {
	site := SiteOf(f)
	if site < 0 {
		return -1
	}
	n := 0
	for _, p := range f.Params[:site] {
		n, _ = CountSlots(n, p.Type, &lengths)
	}
	return n
}

// MaxSiteName is the largest length of the name of a site, less what tells several of one name apart.
const MaxSiteName = cst.MaxName - 16

// SiteName returns the name of a site without what tells several of one name apart, such as " #2".
// A name that is too long even so is returned as it is.
func SiteName(name string) string {
	short := name
	for {
		i := strings.LastIndex(short, " #")
		if i <= 0 || i+2 == len(short) || strings.Trim(short[i+2:], "0123456789") != "" {
			break
		}
		short = short[:i]
	}
	if len(short) > MaxSiteName {
		return name
	}
	return short
}
