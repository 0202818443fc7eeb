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

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

//go:embed assets/page.html assets/style.css assets/*.js
var assets embed.FS

// A page is what the template of the page shows.
type page struct {
	Title, Lead string
	Facts       []fact
	Remarks     []string
	Foot        string

	Timeline      *timelineText
	Functions     *functionTable // nil if there are no calls
	Communication *communicationText
	Sizes         *sizeTable
	Matching      *matchText // nil if there is nothing to match
	Imbalance     *imbalanceTable
	Loops         *loopText

	data      pageData
	functions map[string]int // numbers in data.Functions, by whole names
	profile   *query.Profile

	times     *query.Times
	inCalls   float64          // how long all ranks are in calls, in ns
	length    float64          // of the timeline, in ns; 0 if it is not known
	hasSeries bool             // the trace has the times of every call, of all ranks
	guarantee timing.Guarantee // of these
	exact     *query.Times     // from the times of every call, of all ranks; nil if they are not read

	lost   map[int]error // ranks that cannot be read
	losing bool          // they are left out

	unfinished rankenc.Set // ranks without MPI_Finalize, if the trace was recorded
	progress   func(ranks int)
}

// A fact is a number of the summary.
type fact struct{ Name, Value, Note string }

// A frame is a page with what is the same on all pages, and the data of its scripts.
type frame struct {
	*page
	Policy         string
	Style          template.CSS
	Data           template.JS
	Charts, Script template.JS
}

// static is what all pages have.
type static struct {
	page           *template.Template
	policy         string
	style          template.CSS
	charts, script template.JS
}

// scripts are the parts of the script of the page, in the order in which they stand.
var scripts = []string{"format.js", "grammar.js", "view.js", "timeline.js", "matrix.js", "bars.js", "page.js"}

// parts returns what all pages have. The policy allows the scripts that are part of
// this package, by their hashes, and nothing that comes from elsewhere.
var parts = sync.OnceValue(func() static {
	read := func(name string) string {
		data, err := assets.ReadFile("assets/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		return string(data)
	}
	var script strings.Builder
	script.WriteString("'use strict';\n")
	for _, name := range scripts {
		script.WriteString(read(name))
	}
	charts := read("echarts.min.js")
	functions := template.FuncMap{"count": text.Count[uint64], "duration": func(v any) string {
		switch v := v.(type) {
		case int64:
			return text.Duration(v)
		case float64:
			return text.Duration(v)
		}
		return ""
	}}
	return static{
		page: template.Must(template.New("page").Funcs(functions).Parse(read("page.html"))),
		policy: fmt.Sprintf("default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; script-src 'sha256-%s' 'sha256-%s'",
			hashOf(charts), hashOf(script.String())),
		style: template.CSS(read("style.css")), charts: template.JS(charts), script: template.JS(script.String()),
	}
})

// hashOf returns the hash of a script as a policy names it.
func hashOf(script string) string {
	sum := sha256.Sum256([]byte(script))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// write writes the page. In the data, <, > and & are escaped, so that no text ends the
// script in which they stand.
func (p *page) write(w io.Writer) error {
	data, err := json.Marshal(p.data)
	if err != nil {
		return err
	}
	s := parts()
	var out bytes.Buffer
	err = s.page.Execute(&out, frame{p, s.policy, s.style, template.JS(data), s.charts, s.script})
	if err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}
