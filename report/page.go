package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

//go:embed assets/page.html assets/style.css assets/*.js
var assets embed.FS

// A page is what the template of the page shows.
type page struct {
	Title, Lead string
	Diagnosis   []string // why the run took as long as it did
	Banner      string   // what comes before all else; empty if the run came to its end
	Facts, File []fact   // about the run, and about the file
	Remarks     []string
	Foot        string

	Region        *regionText   // nil if the page is about the run as a whole
	Parts         *partsText    // nil if it is not known what ranks spend their time in
	Compared      *comparedText // nil without a reference
	Timeline      *timelineText
	Waits         *waitText      // nil if they are not known
	Iterations    *iterationText // nil if there is no main loop, or no times of every call
	Functions     *functionText  // nil if there are no calls
	Places        *table         // nil if the trace does not say where calls are made
	Communication *communicationText
	Sizes         *sizeText
	Matching      *matchText // nil if there is nothing to match
	Hang          *hangText  // nil if the run came to its end, as far as is known
	Imbalance     *imbalanceText
	Efficiency    *efficiencyText // nil if there are no times, or too many calls
	Loops         *loopText

	trace     *trace.Trace
	data      pageData
	functions map[string]int // numbers in data.Functions, by whole names
	profile   *query.Profile
	programs  int // that the shapes are, if there are several shapes

	times     *query.Times
	model     *semantics.Model // nil if there are no calls
	searched  map[int]*semantics.Rank
	inCalls   float64              // how long all ranks are in calls of the run, in ns
	begin     int64                // of the first call of the run, by the clock of the trace
	length    float64              // of the timeline, in ns; 0 if it is not known
	served    bool                 // by a View, which is asked for the times of calls
	hasSeries bool                 // the trace has the times of every call, of all ranks
	guarantee timing.Guarantee     // of these
	run       *query.RunTimes      // nil if they are not known
	diagnosis *diagnosis.Diagnosis // the same
	byRank    *query.ByRank        // nil if ranks cannot be told apart
	exact     *query.Times         // from the times of every call, of all ranks; nil if they are not read

	region     *query.Region // that the timeline shows at first; nil for the run
	unfinished rankenc.Set   // ranks without MPI_Finalize, if the trace was recorded
	progress   func(ranks int)
}

// A fact is a number of the summary.
type fact struct{ Name, Value, Note string }

// A frame is a page with the data of its scripts, and what is the same on all pages.
type frame struct {
	*page
	static
	Data template.JS
}

// static is what all pages have.
type static struct {
	template       *template.Template
	Policy         string
	Style          template.CSS
	Charts, Script template.JS
}

// Alone and served are what pages have that are files, and those that a View serves.
var (
	alone  = sync.OnceValue(func() static { return parts("connect-src 'none'") })
	served = sync.OnceValue(func() static { return parts("connect-src 'self'", "remote.js") })
)

// parts returns what all pages have, with more scripts. The policy allows the scripts that
// are part of this package, by their hashes, and nothing that comes from elsewhere; it says
// to where the page may connect.
func parts(connect string, more ...string) static {
	read := func(names ...string) string {
		var all strings.Builder
		for _, name := range names {
			data, err := assets.ReadFile("assets/" + name)
			if err != nil {
				panic(err) // it is embedded
			}
			all.Write(data)
		}
		return all.String()
	}
	script := "'use strict';\n" + read("format.js", "grammar.js", "calls.js", "bins.js", "arrows.js",
		"groups.js", "waits.js") + read(more...) +
		read("view.js", "colors.js", "overview.js", "timeline.js", "matrix.js", "bars.js", "page.js")
	charts := read("echarts.min.js")
	return static{
		template: template.Must(template.New("page").Parse(read("page.html"))),
		Policy: fmt.Sprintf(
			"default-src 'none'; %s; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; script-src 'sha256-%s' 'sha256-%s'",
			connect, hashOf(charts), hashOf(script)),
		Style: template.CSS(read("style.css")), Charts: template.JS(charts), Script: template.JS(script),
	}
}

// hashOf returns the hash of a script as a policy names it.
func hashOf(script string) string {
	sum := sha256.Sum256([]byte(script))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// write writes the page.
func (p *page) write(w io.Writer) error {
	html, err := p.render()
	if err == nil {
		_, err = w.Write(html)
	}
	return err
}

// bytes returns how long the page is so far.
func (p *page) bytes() (int, error) {
	html, err := p.render()
	return len(html), err
}

// render returns the page. In the data, <, > and & are escaped, so that no text ends the
// script in which they stand.
func (p *page) render() ([]byte, error) {
	data, err := json.Marshal(p.data)
	if err != nil {
		return nil, err
	}
	s := alone()
	if p.served {
		s = served()
	}
	var out bytes.Buffer
	err = s.template.Execute(&out, frame{p, s, template.JS(data)})
	return out.Bytes(), err
}
