package spec

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
)

func TestTable(t *testing.T) {
	if !slices.IsSortedFunc(functions, func(f, g Function) int { return strings.Compare(f.Name, g.Name) }) {
		t.Error("not sorted by name")
	}
	word := regexp.MustCompile(`\b[a-z]\w*\(?`)
	for i := range functions {
		f := &functions[i]
		if number, ok := Lookup(f.Name); !ok || number != i {
			t.Errorf("%s: Lookup returns %d, %v, want %d", f.Name, number, ok, i)
		}
		declared := cst.Function{Name: f.Name}
		known := map[string]bool{}
		for _, p := range f.Params {
			declared.Params = append(declared.Params, cst.Param{Name: p.Name, Type: p.Type, Direction: p.Direction})
			known[p.Name], known["entry_"+p.Name] = true, true
		}
		if err := declared.Validate(); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		for _, p := range f.Params[len(f.Declared()):] {
			role := RoleOf(f.Name)
			reads := role.Class == Access && role.Reads && !role.Nonblocking // which is done when the call returns
			if p.Direction == cst.In {                                       // an argument that the function takes and does not declare
				known["asked_"+p.Name], known["ARGUMENT_AFTER"] = true, true
				continue
			}
			if p.Before() || !p.After() || !p.Counted() || f.Communicator() < 0 && !reads {
				t.Errorf("%s: %s cannot be asked for", f.Name, p.Name)
			}
		}
		for _, p := range f.Params {
			if p.Use != 0 && p.Element().Kind != cst.KindInt && p.Element().Kind != cst.KindPointer {
				t.Errorf("%s: %s is no number and no address", f.Name, p.Name)
			}
			if !p.Before() && !p.After() {
				t.Errorf("%s: %s is not recorded", f.Name, p.Name)
			}
			for _, name := range word.FindAllString(p.Length+" "+p.Given+" "+p.Asked, -1) {
				if !strings.HasSuffix(name, "(") && !known[name] {
					t.Errorf("%s: %s: %q is no parameter", f.Name, p.Name, name)
				}
			}
		}
	}
}

func number(t *testing.T, name string) int {
	t.Helper()
	n, ok := Lookup(name)
	if !ok {
		t.Fatalf("the table has no %s", name)
	}
	return n
}

func TestTakesRequests(t *testing.T) {
	for name, want := range map[string]bool{
		"MPI_Wait": true, "MPI_Testsome": true, "MPI_Start": true, "MPI_Startall": true, "MPI_Request_free": true,
		"MPI_Cancel": true, "MPI_Request_get_status": true, "MPI_Request_get_status_some": true,
		"MPI_Grequest_complete": true, "MPI_Request_c2f": true,
		"MPI_Isend": false, "MPI_Send_init": false, "MPI_Grequest_start": false, "MPI_Request_f2c": false,
		"MPI_Mrecv": false, "MPI_Barrier": false,
	} {
		if got := functions[number(t, name)].takesRequests(); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

func TestBegins(t *testing.T) {
	for name, want := range map[string]struct{ frees, begins bool }{
		"MPI_Comm_free": {true, true}, "MPI_Comm_disconnect": {true, true}, "MPI_File_close": {true, true},
		"MPI_Session_finalize": {true, true}, "MPI_Type_free_keyval": {true, true},
		"MPI_T_pvar_handle_free": {true, true},
		"MPI_Mrecv":              {true, true}, "MPI_Imrecv_c": {true, true}, "MPI_Info_free": {true, true},
		"MPI_Request_free": {false, true}, "MPI_Wait": {false, true}, "MPI_Free_mem": {false, true},
		"MPI_Type_commit": {false, false}, "MPI_Comm_dup": {false, false}, "MPI_Comm_set_errhandler": {false, false},
		"MPI_Mprobe": {false, false}, "MPI_Finalize": {false, false},
	} {
		if f := &functions[number(t, name)]; f.FreesObject() != want.frees || f.Begins() != want.begins {
			t.Errorf("%s: %t, %t, want %v", name, f.FreesObject(), f.Begins(), want)
		}
	}
}

// TestRoles checks that roles name parameters that the functions have, of the right kinds, and
// that what follows from the parameters is so.
func TestRoles(t *testing.T) {
	known := make(map[*Role]bool)
	for i := range functions {
		f := &functions[i]
		r := RoleOf(f.Name)
		known[r] = true
		kinds := make(map[string]cst.Type)
		for _, p := range f.Params {
			kinds[p.Name] = p.Type
		}
		check := func(name string, kind cst.Kind) {
			if name != "" && kinds[name].Kind != kind {
				t.Errorf("%s: %q is %v, want %v", f.Name, name, kinds[name], kind)
			}
		}
		check(r.On, cst.KindHandle)
		if r.Persistent && r.Nonblocking || r.Persistent && !strings.Contains(f.Name, "_init") {
			t.Errorf("%s: persistent %t, nonblocking %t", f.Name, r.Persistent, r.Nonblocking)
		}
		if on := kinds[r.On].Class; r.On != "" && on != "comm" && on != "win" && on != "file" {
			t.Errorf("%s: it is on a %s", f.Name, on)
		}
		for _, m := range []*Transfer{r.Sends, r.Receives, r.Accesses} {
			if m != nil {
				check(m.Peer, cst.KindRank)
				check(m.Tag, cst.KindTag)
				check(m.Count, cst.KindInt)
				check(m.Type, cst.KindHandle)
			}
		}
		if frees := f.FreesObject() && slices.Contains([]string{"comm", "win", "file"},
			kinds[r.On].Class); frees != r.Frees {
			t.Errorf("%s: frees an object: %t, by its parameters %t", f.Name, r.Frees, frees)
		}
		if takes := r.Requests != 0; takes && !f.takesRequests() {
			t.Errorf("%s: it is given no requests", f.Name)
		}
		makes := slices.ContainsFunc(f.Params, func(p Param) bool {
			return p.Direction == cst.Out && (p.Type.Class == "comm" || p.Type.Class == "win" || p.Type.Class == "file")
		})
		if (r.Makes != 0) && !makes {
			t.Errorf("%s: it makes no object", f.Name)
		}
		if r.Data != "" {
			if _, ok := Lookup("MPI_" + r.Data); !ok {
				t.Errorf("%s: there is no MPI_%s", f.Name, r.Data)
			}
			for _, a := range []Amount{r.Gives, r.Gets} {
				count, datatype := cst.KindInt, cst.KindHandle
				if a.Parts == "sum" || a.Parts == "own" || a.Parts == "typed" {
					count = cst.KindArray
				}
				if a.Parts == "typed" {
					datatype = cst.KindArray
				}
				check(a.Count, count)
				check(a.Type, datatype)
			}
		}
	}
	for name, r := range roles {
		if !known[r] {
			t.Errorf("%s is no function of the table", name)
		}
	}
}

func TestRoleOf(t *testing.T) {
	tests := []struct {
		name string
		ok   func(r *Role) bool
	}{
		{"MPI_Isend_c", func(r *Role) bool { return r.Sends != nil && r.Nonblocking && r.Sends.Peer == "dest" }},
		{"MPI_Bsend_init", func(r *Role) bool { return r.Mode == "buffered" && r.Persistent }},
		{"MPI_Ineighbor_alltoallv", func(r *Role) bool { return r.Data == "Neighbor_alltoallv" && r.Collective }},
		{"MPI_Rget_accumulate", func(r *Role) bool {
			return r.Accesses != nil && r.Reads && r.Combines && r.Nonblocking
		}},
		{"MPIX_Comm_shrink", func(r *Role) bool { return r.Makes == SplitType }},
		{"MPI_File_iwrite_at_all", func(r *Role) bool { return r.Writes && r.Collective && r.On == "fh" }},
		{"MPI_File_read_ordered_end", func(r *Role) bool { return r.Reads && r.Collective && !r.Split }},
		{"MPI_File_read_ordered_begin", func(r *Role) bool { return r.Reads && r.Collective && r.Split }},
		{"MPI_Win_allocate_c", func(r *Role) bool { return r.Allocates && r.Makes == Duplicate }},
		{"MPI_T_enum_get_info", func(r *Role) bool { return r.Shares }},
		{"MPI_Type_indexed_c", func(r *Role) bool { return r.Datatype == "indexed" }},
		{"MPI_Comm_rank", func(r *Role) bool { return *r == Role{TellsPlace: true} }},
		{"MPI_Get_version", func(r *Role) bool { return *r == Role{Early: true} }},
		{"MPI_Get_processor_name", func(r *Role) bool { return *r == noRole }},
		{"Isend", func(r *Role) bool { return *r == noRole }},
	}
	for _, test := range tests {
		if r := RoleOf(test.name); !test.ok(r) {
			t.Errorf("%s: %+v", test.name, *r)
		}
	}
}

// TestConstantIDs checks that no two constants of a type have one ID.
func TestConstantIDs(t *testing.T) {
	type key struct {
		of cst.Type
		id int64
	}
	seen := make(map[key]string)
	for _, c := range constants {
		k := key{c.Type(), c.ID}
		if other := seen[k]; other != "" || c.ID >= 0 || ID(c.Name) != c.ID {
			t.Errorf("%s has the ID %d, and so has %s", c.Name, c.ID, other)
		}
		seen[k] = c.Name
	}
	for name := range sizes {
		if !slices.ContainsFunc(constants, func(c Constant) bool {
			return c.Name == name && c.Size() >= 0 && c.Class == "datatype"
		}) {
			t.Errorf("%s is no datatype of the table", name)
		}
	}
}
