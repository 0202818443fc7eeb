package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// specialCommands returns all that is asked of a trace, as text and as JSON.
func specialCommands() []string {
	var list []string
	for _, command := range forgedCommands {
		if command == "view F" || strings.HasPrefix(command, "replay") {
			continue // the first serves the page of report until it is interrupted, the second builds what proxy writes
		}
		list = append(list, command)
		name, _, _ := strings.Cut(command, " ")
		cmd, _, err := newRoot().Find([]string{name})
		if err == nil && cmd.Flags().Lookup("json") != nil && !strings.Contains(command, " -o ") &&
			!strings.Contains(command, "--") {
			list = append(list, command+" --json")
		}
	}
	return list
}

// askSpecial runs a command on the file F, which must not panic, end with a status above 1, or write what is
// no JSON where that was asked for.
func askSpecial(t *testing.T, what, command string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: reprise %s: %v\n%s", what, command, p, debug.Stack())
		}
	}()
	r := invoke(t, "", strings.Fields(command)...)
	if r.status != cli.ExitOK && r.status != cli.ExitFailure {
		t.Errorf("%s: reprise %s: status %d: %s", what, command, r.status, r.stderr)
	}
	if r.status != cli.ExitOK || !strings.Contains(command, "--json") {
		return
	}
	for d := json.NewDecoder(strings.NewReader(r.stdout)); ; {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Errorf("%s: reprise %s: %v", what, command, err)
			return
		}
	}
}

// testSpecial asks for traces that hold each function of MPI with the special values that its parameters may
// have: in as many rounds as there are such values, each is there once. Of the commands, one in so many is
// run on each trace.
func testSpecial(t *testing.T, rounds, oneIn int, seed uint64) {
	t.Chdir(t.TempDir())
	writeFile(t, "ring.txt", "0 init\n0 finalize\n")
	functions, commands := testtrace.SpecialFunctions(), specialCommands()
	r := rand.New(rand.NewPCG(seed, 6))
	const parts = 8 // of the functions: what ends an answer early hides little
	for round := range rounds {
		for part := range parts {
			var some []spec.Function
			for i := part; i < len(functions); i += parts {
				some = append(some, functions[i])
			}
			at := 0
			forms := func(n int) int { at++; return (round + at*at) % n }
			ranks := testtrace.SpecialRanks(some, forms, r.IntN)
			writeFile(t, "F", string(testtrace.RecordFile(t, merge.Run{Source: "MPI"}, (round+part)%2 == 0, ranks)))
			for i, command := range commands {
				if (i+part+round)%oneIn == 0 {
					askSpecial(t, fmt.Sprintf("round %d, part %d", round, part), command)
				}
			}
		}
	}
}

// TestSpecialArguments runs each command on some of these traces.
func TestSpecialArguments(t *testing.T) {
	tier.SlowRace(t)
	testSpecial(t, 1, tier.Number(48, 16), 43)
}

// TestSpecialAmounts checks what messages says of calls of all functions whose counts are all 0, and of those
// whose messages nobody gets.
func TestSpecialAmounts(t *testing.T) {
	t.Chdir(t.TempDir())
	first := func(int) int { return 0 } // which has all arguments in a trace
	r := rand.New(rand.NewPCG(43, 7))
	for name, change := range map[string]func(p *cst.Param, v cst.Value) cst.Value{
		"no data": func(p *cst.Param, v cst.Value) cst.Value {
			switch {
			case !strings.Contains(p.Name, "count"):
				return v
			case v.Kind() == cst.KindArray:
				list := make([]cst.Value, v.Len())
				for i := range list {
					list[i] = cst.Int(0)
				}
				return cst.Array(list...)
			}
			return cst.Int(0)
		},
		"nobody": func(p *cst.Param, v cst.Value) cst.Value {
			if p.Name == "dest" || p.Name == "source" || p.Name == "target_rank" {
				return cst.Rank(spec.ID("MPI_PROC_NULL"))
			}
			return v
		},
	} {
		functions := slices.DeleteFunc(testtrace.SpecialFunctions(), func(f spec.Function) bool {
			role := spec.RoleOf(f.Name)
			moves := role.Sends != nil || role.Receives != nil || role.Data != "" || role.Accesses != nil
			return !moves || role.Accesses != nil && role.Accesses.Count == "" // which moves an element
		})
		ranks := testtrace.SpecialRanks(functions, first, r.IntN)
		for _, calls := range ranks {
			for _, c := range calls {
				for i := range c.Args {
					c.Args[i] = change(&c.Function.Params[i], c.Args[i])
				}
			}
		}
		writeFile(t, "F", string(testtrace.RecordFile(t, merge.Run{Source: "MPI"}, false, ranks)))
		var got struct {
			Messages, Bytes uint64
			Exchanged       struct{ Blocks, Bytes uint64 }
		}
		if err := json.Unmarshal([]byte(invoke(t, "", "messages", "F", "--json").stdout), &got); err != nil {
			t.Fatal(err)
		}
		if name == "no data" && (got.Bytes != 0 || got.Exchanged.Bytes != 0) ||
			name == "nobody" && (got.Messages != 0 || got.Bytes != 0) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
