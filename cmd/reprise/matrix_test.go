package main

import (
	"encoding/csv"
	"encoding/xml"
	"image/png"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// mustMatrix writes a matrix to a file, which must be told.
func mustMatrix(t *testing.T, want string, args ...string) {
	t.Helper()
	r := invoke(t, "", append([]string{"matrix"}, args...)...)
	if r.status != cli.ExitOK || !strings.HasPrefix(r.stdout, want+", ") ||
		strings.Count(r.stdout, "\n") != 1 || r.stderr != "" {
		t.Errorf("reprise matrix %s: status %d, %q, %q", strings.Join(args, " "), r.status, r.stdout, r.stderr)
	}
}

// TestMatrixFiles checks that each format can be read, and says what messages says.
func TestMatrixFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	mustMatrix(t, "m.csv: matrix of 4 ranks, point-to-point and collective", "ring.rpz", "-o", "m.csv")
	records, err := csv.NewReader(strings.NewReader(readFile(t, "m.csv"))).ReadAll()
	want := [][]string{
		{"from", "to", "messages", "bytes", "messages_of_unknown_size", "blocks", "exchanged_bytes",
			"blocks_of_unknown_size"},
	}
	// Each sends 100 messages to the next, and all add up a number of 8 bytes 10 times.
	for from := range 4 {
		for to := range 4 {
			messages := []string{"0", "0", "0"}
			if to == (from+1)%4 {
				messages = []string{"100", "3200", "0"}
			}
			if to != from {
				want = append(want, slices.Concat([]string{strconv.Itoa(from), strconv.Itoa(to)}, messages,
					[]string{"10", "80", "0"}))
			}
		}
	}
	if err != nil || !slices.EqualFunc(records, want, slices.Equal) {
		t.Errorf("%v, %v", records, err)
	}
	if got := must(t, "matrix", "ring.rpz", "-o", "-", "--format", "csv"); got != readFile(t, "m.csv") {
		t.Errorf("standard output has %q", got)
	}
	mustMatrix(t, "m.png: matrix of 4 ranks, point-to-point and collective", "ring.rpz", "-o", "m.png")
	if _, err := png.Decode(strings.NewReader(readFile(t, "m.png"))); err != nil {
		t.Error(err)
	}
	mustMatrix(t, "m.SVG: matrix of 4 ranks, point-to-point and collective",
		"ring.rpz", "-o", "m.SVG", "--of", "messages", "--scale", "linear", "--bins", "2")
	svg := readFile(t, "m.SVG")
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		_, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{">to rank<", ">from rank<",
		">messages and blocks from 2 ranks to as many others<",
		">ring.rpz: 400 messages, 12.8 kB; collective 120 blocks, 960 B<", ">100<", ">0<"} {
		if !strings.Contains(svg, text) {
			t.Errorf("the picture does not say %s", text)
		}
	}
	before := readFile(t, "m.png")
	mustMatrix(t, "m.png: matrix of 4 ranks, point-to-point and collective", "ring.rpz", "-o", "m.png")
	if readFile(t, "m.png") != before {
		t.Error("the picture differs from one time to the next")
	}
	for _, tt := range []struct{ kind, told, first, scale, title string }{
		{"p2p", "point-to-point", "from,to,messages,bytes,messages_of_unknown_size\n0,1,100,3200,0\n1,2,",
			"bytes from one rank to another", "ring.rpz: 400 messages, 12.8 kB"},
		{"collective", "collective",
			"from,to,blocks,exchanged_bytes,blocks_of_unknown_size\n0,1,10,80,0\n0,2,10,80,0\n",
			"bytes from one rank to another", "ring.rpz: collective 120 blocks, 960 B"},
	} {
		mustMatrix(t, "m.csv: matrix of 4 ranks, "+tt.told+"", "ring.rpz", "-o", "m.csv", "--kind", tt.kind)
		if got := readFile(t, "m.csv"); !strings.HasPrefix(got, tt.first) {
			t.Errorf("%s: %q", tt.kind, got)
		}
		mustMatrix(t, "m.svg: matrix of 4 ranks, "+tt.told+"", "ring.rpz", "-o", "m.svg", "--kind", tt.kind)
		if got := readFile(t, "m.svg"); !strings.Contains(got, ">"+tt.title+"<") ||
			!strings.Contains(got, ">"+tt.scale+"<") {
			t.Errorf("%s: there is no %s, or no %s", tt.kind, tt.title, tt.scale)
		}
	}
}

func TestMatrixErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, tt := range []struct {
		args   string
		status int
		want   string
	}{
		{"matrix ring.rpz", cli.ExitUsage, "matrix needs -o FILE"},
		{"matrix ring.rpz -o m.gif", cli.ExitUsage, "m.gif is not named .svg, .png or .csv: choose one with --format"},
		{"matrix ring.rpz -o -", cli.ExitUsage, "- is not named .svg, .png or .csv"},
		{"matrix ring.rpz -o m --format gif", cli.ExitUsage,
			`invalid argument "gif" for "--format" flag: must be svg, png or csv`},
		{"matrix ring.rpz -o m.png --of calls", cli.ExitUsage,
			`invalid argument "calls" for "--of" flag: must be bytes or messages`},
		{"matrix ring.rpz -o m.png --scale x", cli.ExitUsage,
			`invalid argument "x" for "--scale" flag: must be log or linear`},
		{"matrix ring.rpz -o m.png --bins 0", cli.ExitUsage, "--bins is from 1 to 2048, not 0"},
		{"matrix ring.rpz -o ring.rpz --format png", cli.ExitUsage, "ring.rpz is an input"},
		{"matrix noisy.rpz -o m.png", cli.ExitFailure,
			"noisy.rpz: no rank sends anything to another: there is nothing to draw"},
		{"matrix empty.rpz -o m.png", cli.ExitFailure,
			"empty.rpz: no rank sends anything to another: there is nothing to draw"},
		{"matrix empty.rpz -o m.png --kind p2p", cli.ExitFailure,
			"empty.rpz: no rank sends a message: there is nothing to draw"},
		{"matrix empty.rpz -o m.png --kind collective", cli.ExitFailure,
			"empty.rpz: collective operations exchange no data: there is nothing to draw"},
		{"matrix ring.rpz -o m.png --force", cli.ExitUsage, "--force goes with --format csv"},
		{"matrix ring.rpz -o m.png --kind all", cli.ExitUsage,
			`invalid argument "all" for "--kind" flag: must be both, p2p or collective`},
		{"matrix timed.rpz -o m.png", cli.ExitFailure, "timed.rpz: its functions are not those of MPI or of SimGrid"},
	} {
		r := invoke(t, "", strings.Fields(tt.args)...)
		if r.status != tt.status || !strings.Contains(r.stderr, tt.want) {
			t.Errorf("reprise %s: status %d, %q", tt.args, r.status, r.stderr)
		}
	}
	if strings.Contains(fileNames(t), "m.png") {
		t.Error("there is a file of what failed")
	}
}

// TestMatrixOfHuge asks for a line for each pair of ranks of which a small file claims that there are
// billions.
func TestMatrixOfHuge(t *testing.T) {
	t.Chdir(t.TempDir())
	scan := []testtrace.Call{testtrace.MPICall("MPI_Scan", "sendbuf", 1, "recvbuf", 2, "count", 2, "datatype",
		"MPI_INT", "op", "MPI_SUM", "comm", "MPI_COMM_WORLD")}
	write := func(ranks int) {
		run := merge.Run{Ranks: ranks, Source: "MPI"}
		writeFile(t, "F", describedAs(t, testtrace.Record(t, run, false, [][]testtrace.Call{scan, scan}), run))
	}
	write(math.MaxInt32)
	r := invoke(t, "", "matrix", "F", "-o", "m.csv")
	if want := "up to 4,294,967,291 lines, one for each pair of ranks; --force writes them"; r.status != cli.ExitUsage || !strings.Contains(r.stderr, want) || fileNames(t) != "F" {
		t.Errorf("%+v, %s", r, fileNames(t))
	}
	mustMatrix(t, "m.png: matrix of 2,147,483,647 ranks, point-to-point and collective", "F", "-o", "m.png")
	write(answer.MostLines/2 + 4)
	if r := invoke(t, "", "matrix", "F", "-o", "m.csv"); r.status != cli.ExitUsage {
		t.Errorf("%+v", r)
	}
	must(t, "matrix", "F", "-o", "m.csv", "--kind", "p2p")
	write(3)
	must(t, "matrix", "F", "-o", "m.csv", "--force")
	if got := readFile(t, "m.csv"); strings.Count(got, "\n") != 1+3 {
		t.Errorf("%q", got)
	}
}
