package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/predict"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/programs"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
	"github.com/reprise-trace/reprise/mpi/slice"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/query/waits"
	"github.com/reprise-trace/reprise/rankenc"
)

// jsonTypes returns the types of the names in JSON, as docs/json.md has them.
func jsonTypes(t *testing.T) map[string]string {
	t.Helper()
	types := make(map[string]string)
	for line := range strings.Lines(readFile(t, filepath.Join("..", "..", "docs", "json.md"))) {
		if cells := strings.Split(line, "|"); len(cells) == 5 && strings.HasPrefix(cells[1], " `") {
			name := strings.Trim(cells[1], " `")
			if types[name] != "" {
				t.Errorf("docs/json.md has %s twice", name)
			}
			types[name] = strings.TrimSpace(cells[2])
		}
	}
	return types
}

// A jsonChecker checks values against the types of their names.
type jsonChecker struct {
	t     *testing.T
	types map[string]string
	used  map[string]bool
}

// object checks the object that a command writes.
func (c *jsonChecker) object(command, text string) {
	c.t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for d.More() {
		var v map[string]any
		if err := d.Decode(&v); err != nil {
			c.t.Errorf("reprise %s: %v", command, err)
			return
		}
		if v["schema"] != json.Number("1") {
			c.t.Errorf("reprise %s: schema is %v", command, v["schema"])
		}
		c.names(command, v)
	}
}

func (c *jsonChecker) names(command string, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			c.names(command, e)
		}
	case map[string]any:
		for name, e := range v {
			c.used[name] = true
			want, known := c.types[name]
			if !known || !isOfType(e, want) {
				c.t.Errorf("reprise %s: %s is %v, want %q as docs/json.md has it", command, name, e, want)
			}
			if ns := strings.HasSuffix(name, "_ns"); ns != (strings.HasPrefix(want, "integer") && ns) {
				c.t.Errorf("%s is not an integer", name)
			}
			if want != "any" {
				c.names(command, e)
			}
		}
	}
}

func isOfType(v any, want string) bool {
	if want == "any" {
		return true
	}
	want, null := strings.CutSuffix(want, " or null")
	switch v := v.(type) {
	case nil:
		return null
	case bool:
		return want == "boolean"
	case json.Number:
		_, err := v.Int64()
		return want == "fraction" || want == "integer" && (err == nil || v == "18446744073709551615")
	case string:
		if want == "set" && v != "" {
			_, err := rankenc.SetOfText(v, rankenc.MaxRank+1)
			return err == nil
		}
		return want == "string" || want == "set"
	case []any:
		return want == "list"
	}
	return want == "object"
}

// TestJSONNames checks what all commands write with --json in the transcripts against
// docs/json.md.
func TestJSONNames(t *testing.T) {
	c := jsonChecker{t, jsonTypes(t), make(map[string]bool)}
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	commands := make(map[string]bool)
	for _, path := range paths {
		for _, part := range strings.Split(readFile(t, path), "$ reprise ")[1:] {
			command, out, _ := strings.Cut(part, "\n")
			if !slices.Contains(strings.Fields(command), "--json") || !strings.HasPrefix(out, "{") {
				continue
			}
			commands[strings.Fields(command)[0]] = true
			end := strings.LastIndex(out, "}\n")
			c.object(command, out[:end+1])
		}
	}
	summary, err := json.Marshal(record.Summary{Schema: cli.Schema, Problems: []string{},
		Run: &diagnosis.Diagnosis{Share: &query.CallShare{}, Factors: &diagnosis.Factors{},
			Waiting: new(diagnosis.Waiting),
			Slowest: &diagnosis.Slowest{Time: 1, From: new(waits.Site), To: new(waits.Site)}}})
	if err != nil {
		t.Fatal(err)
	}
	c.object("record", string(summary))
	c.object("codecs", invoke(t, "1\n2\n3us\n", "codecs", "-", "--json").stdout)
	calibrated, err := json.Marshal(predict.Calibrated{Schema: cli.Schema, Doubts: []string{""},
		Links: []predict.CalibratedLink{{Larger: []predict.LargerMessages{{}},
			Messages: []predict.MessageFit{{}}}}, Besides: []predict.BesidesMessages{{}},
		Collectives: []predict.CalibratedCollective{{}}})
	if err != nil {
		t.Fatal(err)
	}
	c.object("calibrate", string(calibrated))
	commands["record"], commands["collect"], commands["codecs"], commands["calibrate"] = true, true, true, true
	replayed, err := json.Marshal(programs.Replay{Schema: cli.Schema, Recorded: &query.ComparedTimes{},
		Replayed: &query.ComparedTimes{},
		Functions: []programs.ReplayedFunction{{Time: new(query.Nanoseconds),
			ReplayedTime: new(query.Nanoseconds)}}, LeftOut: []programs.LeftOut{{}}})
	if err != nil {
		t.Fatal(err)
	}
	c.object("replay", string(replayed))
	c.object("proxy", invoke(t, "", "proxy", heatTrace, "-o", t.TempDir(), "--json").stdout)
	sliced, err := json.Marshal(programs.Slice{Schema: cli.Schema, Files: []slice.Count{{}},
		Calls: []slice.Call{{}}, Open: &slice.Opening{}, Needed: []slice.Needed{{}}, Sources: []slice.Source{{Tags: []int64{}}},
		Assumed: []slice.Assumption{{}}, Lines: []programs.KeptLine{{Steps: []slice.Step{{}}}}})
	if err != nil {
		t.Fatal(err)
	}
	c.object("slice", string(sliced))
	commands["replay"], commands["proxy"], commands["slice"] = true, true, true
	for _, cmd := range newRoot().Commands() {
		if cmd.Flags().Lookup("json") != nil && !commands[cmd.Name()] {
			t.Errorf("no transcript has %s --json", cmd.Name())
		}
	}
}
