package header

import (
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	const source = `
# 1 "mpi.h"
typedef int MPI_Datatype;
typedef int (MPI_Copy_function)(int, void *);
struct s { int MPI_Not(int); };
int MPI_Alltoallw(const void *sendbuf, const int sendcounts[],
    const MPI_Datatype types[], MPI_Comm comm) __attribute__((pointer_with_type_tag(MPI,1,(3))));
__attribute__((visibility("default"))) extern double MPI_Wtime(void);
MPI_Fint MPI_File_c2f(MPI_File);
int MPI_Group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group * newgroup);
int MPI_Pcontrol(const int level, ...);
int MPI_Unnamed(const char *, char ***argv, const int *const p);
int PMPI_Send(int a);
int MPIX_Comm_revoke(MPI_Comm comm);
int MPIX_Comm_revoke(MPI_Comm comm);
`
	want := []Function{
		{Name: "MPI_Alltoallw", Result: "int", Params: []Param{
			{"sendbuf", "const void *", ""}, {"sendcounts", "const int", "[]"},
			{"types", "const MPI_Datatype", "[]"}, {"comm", "MPI_Comm", ""},
		}},
		{Name: "MPI_Wtime", Result: "double"},
		{Name: "MPI_File_c2f", Result: "MPI_Fint", Params: []Param{{"", "MPI_File", ""}}},
		{Name: "MPI_Group_range_excl", Result: "int", Params: []Param{
			{"group", "MPI_Group", ""}, {"n", "int", ""}, {"ranges", "int", "[][3]"}, {"newgroup", "MPI_Group *", ""},
		}},
		{Name: "MPI_Pcontrol", Result: "int", Params: []Param{{"level", "const int", ""}}, Variadic: true},
		{Name: "MPI_Unnamed", Result: "int", Params: []Param{
			{"", "const char *", ""}, {"argv", "char ***", ""}, {"p", "const int *const", ""},
		}},
		{Name: "MPIX_Comm_revoke", Result: "int", Params: []Param{{"comm", "MPI_Comm", ""}}},
	}
	got, err := Parse(source)
	if err != nil {
		t.Fatal(err)
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("function %d of %+v\nwant %+v", i, got, want)
		}
	}
}

func TestParseError(t *testing.T) {
	if _, err := Parse("int MPI_Odd(int (*f)(int));"); err == nil {
		t.Fatal("a pointer to a function was taken for a parameter")
	}
}

func TestParam(t *testing.T) {
	tests := []struct {
		param        Param
		base         string
		indirections int
		declared     string
	}{
		{Param{"n", "int", ""}, "int", 0, "int n"},
		{Param{"request", "MPI_Request *", ""}, "MPI_Request", 1, "MPI_Request *request"},
		{Param{"ranges", "int", "[][3]"}, "int", 2, "int ranges[][3]"},
		{Param{"v", "char ***", ""}, "char", 3, "char ***v"},
		{Param{"c", "const MPI_Aint *const", ""}, "MPI_Aint", 1, "const MPI_Aint *const c"},
	}
	for _, test := range tests {
		if got := test.param.Base(); got != test.base {
			t.Errorf("%v: base %q, want %q", test.param, got, test.base)
		}
		if got := test.param.Indirections(); got != test.indirections {
			t.Errorf("%v: %d indirections, want %d", test.param, got, test.indirections)
		}
		if got := test.param.Declare(test.param.Name); got != test.declared {
			t.Errorf("%v: declared as %q, want %q", test.param, got, test.declared)
		}
	}
}

func TestParseConstants(t *testing.T) {
	const macros = `#define MPI_INT ((MPI_Datatype)0x4c000405)
#define MPI_SUM (MPI_Op)(0x58000003)
#define MPI_COMM_WORLD OMPI_PREDEFINED_GLOBAL( MPI_Comm, ompi_mpi_comm_world)
#define MPI_FLOAT OMPI_PREDEFINED_GLOBAL(MPI_Datatype, ompi_mpi_float)
#define MPI_LB THIS_SYMBOL_WAS_REMOVED_IN_MPI30(MPI_LB, MPI_Type_create_resized);
#define MPI_STATUS_IGNORE (MPI_Status *)1
#define MPI_ANY_TAG (-1)
#define MPI_ERR_TRUNCATE 14
#define MPI_ERR_OTHER 15
#define MPI_IN_PLACE (void *) -1
#define MPI_VERSION 4
#define MPI_H
`
	want := []Constant{
		{"MPI_INT", "datatype"}, {"MPI_SUM", "op"}, {"MPI_COMM_WORLD", "comm"},
		{"MPI_FLOAT", "datatype"}, {"MPI_ANY_TAG", "tag"}, {"MPI_ERR_TRUNCATE", "error"}, {"MPI_IN_PLACE", "pointer"},
	}
	if got := ParseConstants(macros); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestVersion(t *testing.T) {
	tests := []struct{ macros, want string }{
		{"#define MPI_VERSION 4\n#define MPICH_VERSION \"4.0.2\"\n", "MPICH 4.0.2"},
		{"#define OMPI_MINOR_VERSION 1\n#define OMPI_MAJOR_VERSION 4\n#define OMPI_RELEASE_VERSION 4\n",
			"Open MPI 4.1.4"},
		{"#define MPI_VERSION 4\n", "another MPI"},
	}
	for _, test := range tests {
		if got := version(test.macros); got != test.want {
			t.Errorf("%q: %q, want %q", test.macros, got, test.want)
		}
	}
}
