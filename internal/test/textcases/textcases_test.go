package textcases

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// output says what a case has, its input in capitals, and as many empty lines as it asks for.
func output(t *testing.T, c Case) string {
	return c.Arg("say") + strings.Repeat("\n", c.Int(t, "blank", 0)) + strings.ToUpper(c.Input)
}

func TestRun(t *testing.T) { Run(t, "testdata/cases.txt", output) }

// TestRewrite checks that a file gets the outputs, and keeps all else.
func TestRewrite(t *testing.T) {
	want, err := os.ReadFile("testdata/cases.txt")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cases.txt")
	text := strings.NewReplacer("SayONE\n", "", "NO END", "NONE").Replace(string(want))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil || text == string(want) {
		t.Fatal(err)
	}
	defer func(was bool) { *rewrite = was }(*rewrite)
	*rewrite = true
	Run(t, path, output)
	if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestErrors checks that an error says where.
func TestErrors(t *testing.T) {
	Run(t, "testdata/errors.txt", func(t *testing.T, c Case) string {
		text := strings.NewReplacer("+", "----", "|", "").Replace(c.Input)
		cases, err := parse("a.txt", text)
		if err == nil || cases != nil {
			t.Fatal(cases, err)
		}
		return err.Error()
	})
}

// TestUnknown checks that an argument is known as one that nobody asks for until somebody does.
func TestUnknown(t *testing.T) {
	cases, err := parse("a.txt", "Name say=a blnk=1 more\n----\n")
	if err != nil {
		t.Fatal(err)
	}
	output(t, cases[0])
	if got := strings.Join(cases[0].unknown(), " "); got != "blnk more" {
		t.Errorf("nobody asks for %s", got)
	}
	cases[0].Arg("blnk")
	cases[0].Arg("more")
	if got := cases[0].unknown(); got != nil {
		t.Errorf("nobody asks for %s, says a case after that", got)
	}
}
