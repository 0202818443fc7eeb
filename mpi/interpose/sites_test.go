package interpose

import (
	"context"
	"debug/elf"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/reprise-trace/reprise/mpi/internal/spool"
)

// TestSites finds the function that each call was made in, by the address that it
// returns to, and none where nobody asked.
func TestSites(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		program := m.build(t, "sites.c", "-fno-inline")
		want := []string{"ones", "ones", "ones", "others", "others"}
		if got := sitesOf(t, m, program, "caller"); !slices.Equal(got, want) {
			t.Errorf("barriers in %q, want %q", got, want)
		}
		if got := sitesOf(t, m, program, "none"); !slices.Equal(got, []string{"", "", "", "", ""}) {
			t.Errorf("without sites: barriers in %q", got)
		}
	})
}

// TestWrappedSites does the same for calls through functions that wrap those of MPI, as in mpistubs.c of HYPRE, and
// through one of a library, which are made where these are called. A function that is only named like one of MPI
// is not passed on, as it is alone in its object.
func TestWrappedSites(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		want := []string{"ones", "ones", "ones", "others", "others"}
		for _, pointer := range []string{"-fomit-frame-pointer", "-fno-omit-frame-pointer"} {
			program := m.build(t, "wrapped.c", pointer, "-fno-inline", "-fno-optimize-sibling-calls")
			if got := sitesOf(t, m, program, "caller"); !slices.Equal(got, want) {
				t.Errorf("%s: barriers in %q, want %q", pointer, got, want)
			}
		}
		library := m.build(t, "wrapped.c", "-shared", "-fPIC", "-DLIBRARY", "-fno-inline",
			"-fno-optimize-sibling-calls")
		program := m.build(t, "wrapped.c", "-DPROGRAM", "-fno-inline", "-Wl,--no-as-needed", library)
		if got := sitesOf(t, m, program, "caller"); !slices.Equal(got, want) {
			t.Errorf("of a library: barriers in %q, want %q", got, want)
		}
		alone := m.build(t, "wrapped.c", "-DALONE", "-fno-inline", "-fno-optimize-sibling-calls")
		if got := sitesOf(t, m, alone, "caller"); !slices.Equal(got, slices.Repeat([]string{"stub_MPI_Barrier"}, 5)) {
			t.Errorf("of one function: barriers in %q", got)
		}
	})
}

// TestFortranSites does the same for calls by way of each of the three interfaces of Fortran.
func TestFortranSites(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		mpifort := strings.Replace(m.mpicc, "mpicc", "mpifort", 1)
		if _, err := exec.LookPath(mpifort); err != nil {
			t.Skip(err)
		}
		want := []string{"ones_", "ones_", "ones_", "others_", "others_"}
		for _, interfaces := range []string{"MPI", "MPIFH", "F08"} {
			if got := sitesOf(t, m, buildFortran(t, mpifort, "sites.F90", interfaces),
				"caller"); !slices.Equal(got, want) {
				t.Errorf("%s: barriers in %q, want %q", interfaces, got, want)
			}
		}
	})
}

// TestClosedSites does the same for libraries that are closed, after which others are in their
// place.
func TestClosedSites(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		first := m.build(t, "plugin.c", "-shared", "-fPIC", "-DNAME=first")
		second := m.build(t, "plugin.c", "-shared", "-fPIC", "-DNAME=second")
		program := m.build(t, "plugin.c", `-DFIRST="`+first+`"`, `-DSECOND="`+second+`"`)
		want := []string{"first", "first", "second", "second", "first", "first"}
		if got := sitesOf(t, m, program, "caller"); !slices.Equal(got, want) {
			t.Errorf("barriers in %q, want %q", got, want)
		}
	})
}

// sitesOf returns the functions of a program that call MPI_Barrier, as it calls it.
func sitesOf(t *testing.T, m *implementation, program, sites string) (names []string) {
	t.Helper()
	spool := t.TempDir()
	c := m.command(context.Background(), t, "1", spool, program)
	c.Env = append(c.Env, "REPRISE_SITES="+sites)
	if output, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var modules []Record
	var paths []string
	readAll(t, threads(t, spool)[0][0], func(r *Record) {
		switch {
		case r.Type == Module:
			modules, paths = append(modules, *r), append(paths, string(r.Path.Text()))
		case r.Type == Call && functions[r.Function].Name == "MPI_Barrier" && r.Depth == 0:
			name := ""
			for i := range modules {
				if m := &modules[i]; r.Site-m.Address < m.Size {
					name = functionAt(t, paths[i], r.Site-m.Base-1)
				}
			}
			names = append(names, name)
		}
	})
	if slices.ContainsFunc(paths, func(path string) bool {
		return !filepath.IsAbs(path)
	}) || len(paths) > 0 && sites == "none" {
		t.Errorf("modules %s", strings.Join(paths, ", "))
	}
	return names
}

// functionAt returns the name of the function that an address of a file lies in.
func functionAt(t *testing.T, path string, address uint64) string {
	t.Helper()
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && address-s.Value < s.Size {
			return s.Name
		}
	}
	return ""
}
