package spec

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
)

// A deviation is where the table is meant to differ from the interface
// description of the MPI Forum.
type deviation struct {
	function, param string // regular expressions for the whole name
	what            string // is different: "direction", "kind", "array" or "count"
	reason          string
}

var deviations = []deviation{
	{"MPI_Pcontrol", "", "count", "the arguments after the level have no types"},
	{"MPI_Type_get_(contents|envelope)", "", "count", "the large counts are only in the functions with _c"},
	{"MPI_Info_create_env", "argc", "direction", "in C it is passed by value"},
	{"MPI_Group_range_(incl|excl)", "ranges", "kind", "each third number is a stride"},
	{"MPI_Comm_spawn", "argv|array_of_errcodes", "array", "the lengths are in the text of the standard"},
	{"MPI_Comm_spawn_multiple", "array_of_(commands|errcodes)", "array", "the lengths are in the text of the standard"},
	{"MPI_Init_thread", "argv", "array", "the length is in the text of the standard"},
	{"MPI_Status_.*", "f_status", "array", "it is an array of integers in C"},
}

// A forumParam is a parameter in the interface description of the MPI Forum.
type forumParam struct{ name, kind, direction, length string }

// readForum reads the interface description of the MPI Forum, if that is beside
// the repository, and skips the test otherwise.
func readForum(t *testing.T) map[string][]forumParam {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "..", "..", "shared", "mpi", "apis.tsv"))
	if err != nil {
		t.Skip("the interface description of the MPI Forum is not beside the repository")
	}
	defer file.Close()
	described := make(map[string][]forumParam)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		field := strings.Split(lines.Text()+strings.Repeat("\t", 6), "\t")
		if strings.HasPrefix(field[0], "#") {
			continue
		}
		params := described[field[0]]
		if field[2] != "" {
			params = append(params, forumParam{field[2], field[3], field[4], field[5]})
		}
		described[field[0]] = params
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return described
}

func TestTableAgainstForum(t *testing.T) {
	described := readForum(t)
	used := make([]bool, len(deviations))
	differs := func(function, param, what string, table, forum any) {
		for i, d := range deviations {
			if d.what == what && matchWhole(d.function, function) && matchWhole(d.param, param) {
				used[i] = true
				return
			}
		}
		t.Errorf("%s %s: %s is %v, the MPI Forum has %v", function, param, what, table, forum)
	}
	compared := 0
	for name, params := range described {
		if _, ok := Lookup(name); !ok {
			t.Errorf("%s is not in the table", name)
		}
		for _, variant := range []string{name, name + "_c"} {
			number, ok := Lookup(variant)
			if !ok {
				continue
			}
			f := &functions[number]
			if len(f.Declared()) != len(params) {
				differs(variant, "", "count", len(f.Declared()), len(params))
				continue
			}
			for i := range params {
				compareParam(variant, &f.Params[i], params[i], differs)
				compared++
			}
		}
	}
	for i, d := range deviations {
		if !used[i] {
			t.Errorf("%s %s: the %s does not deviate", d.function, d.param, d.what)
		}
	}
	if len(described) < 400 || compared < 1900 {
		t.Errorf("compared %d parameters of %d functions", compared, len(described))
	}
	t.Logf("compared %d parameters of %d functions and their large-count forms", compared, len(described))
}

func compareParam(function string, p *Param, forum forumParam,
	differs func(function, param, what string, table, forum any)) {
	if p.Name != forum.name {
		differs(function, p.Name, "name", p.Name, forum.name)
	}
	if p.Direction.String() != forum.direction {
		differs(function, p.Name, "direction", p.Direction, forum.direction)
	}
	array := p.Type.Kind == cst.KindArray
	if array != (forum.length != "") && forum.kind != "STRING" {
		differs(function, p.Name, "array", array, forum.length)
	}
	element := p.Element()
	for _, kind := range []struct {
		here  bool
		there []string
	}{
		{element.Kind == cst.KindRank, []string{"RANK", "RANK_NNI"}},
		{element.Kind == cst.KindTag, []string{"TAG"}},
		{element.Kind == cst.KindStatus, []string{"STATUS"}},
		{element.Kind == cst.KindString, []string{"STRING", "STRING_ARRAY", "STRING_2DARRAY", "ARGUMENT_LIST"}},
		{strings.HasSuffix(element.Class, "keyval"), []string{"KEYVAL"}},
		{element.Class == "comm", []string{"COMMUNICATOR"}},
		{element.Class == "datatype", []string{"DATATYPE"}},
		{element.Class == "request", []string{"REQUEST"}},
		{element.Class == "win", []string{"WINDOW"}},
		{element.Class == "file", []string{"FILE"}},
		{element.Class == "group", []string{"GROUP"}},
		{element.Class == "info", []string{"INFO"}},
		{element.Class == "op", []string{"OPERATION"}},
		{element.Class == "message", []string{"MESSAGE"}},
		{element.Class == "session", []string{"SESSION"}},
		{element.Class == "errhandler", []string{"ERRHANDLER"}},
	} {
		if kind.here != slices.Contains(kind.there, forum.kind) {
			differs(function, p.Name, "kind", element, forum.kind)
		}
	}
}

func matchWhole(pattern, name string) bool {
	return regexp.MustCompile("^(?:" + pattern + ")$").MatchString(name)
}
