//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/e2e"
)

// runCells runs the cells of code on standard input, a list of texts, and prints what each
// shows: what it prints, or the value of the expression at its end.
const runCells = `
import ast, contextlib, io, json, sys
import pandas
pandas.options.display.max_columns = 20 # as in a notebook
shown, names = [], {}
for cell in json.load(sys.stdin):
    tree, out = ast.parse(cell), io.StringIO()
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(out):
        exec(compile(tree, 'cell', 'exec'), names)
        value = eval(compile(ast.Expression(last.value), 'cell', 'eval'), names) if last else None
    shown.append(out.getvalue() + (repr(value) if value is not None else ''))
json.dump(shown, sys.stdout)
`

// TestNotebook runs the notebook in examples and compares what it shows, but for spaces, which
// differ from one version of pandas to another.
func TestNotebook(t *testing.T) {
	e2e.Programs(t)
	python := ""
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import pandas").Run() == nil {
			python = name
			break
		}
	}
	if python == "" {
		t.Skip("no pandas, which is Debian's python3-pandas")
	}
	dir := t.TempDir()
	notebook := filepath.Join("..", "..", "examples", "notebook")
	var content struct {
		Cells []struct {
			Type    string   `json:"cell_type"`
			Source  []string `json:"source"`
			Outputs []struct {
				Text []string `json:"text"`
				Data struct {
					Text []string `json:"text/plain"`
				} `json:"data"`
			} `json:"outputs"`
		} `json:"cells"`
	}
	if err := json.Unmarshal([]byte(readFile(t, filepath.Join(notebook, "analysis.ipynb"))), &content); err != nil {
		t.Fatal(err)
	}
	var cells, want []string
	for _, c := range content.Cells {
		if c.Type != "code" {
			continue
		}
		cells = append(cells, strings.Join(c.Source, ""))
		text := ""
		for _, o := range c.Outputs {
			text += strings.Join(o.Text, "") + strings.Join(o.Data.Text, "")
		}
		want = append(want, text)
	}
	writeFile(t, filepath.Join(dir, "heat.rpz"), readFile(t, filepath.Join(notebook, "heat.rpz")))
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, "reprise"))
	}
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(cells)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), python, "-c", runCells)
	c.Dir, c.Stdin, c.Stderr = dir, strings.NewReader(string(input)), os.Stderr
	c.Env = append(os.Environ(), runMain+"=1", "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := c.Output()
	var got []string
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if a, b := strings.Fields(got[i]), strings.Fields(want[i]); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Errorf("cell\n%s\nshows\n%s\nwant\n%s", cells[i], got[i], want[i])
		}
	}
	if len(want) < 5 {
		t.Errorf("%d cells", len(want))
	}
}
