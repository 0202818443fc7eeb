package main

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
)

// TestMatrixPicture checks the colours of a picture: where there is something, where
// there is most, and where there is nothing.
func TestMatrixPicture(t *testing.T) {
	tier.SlowRace(t)
	for _, tt := range tier.Some([]struct{ ranks, bins int }{{4, 4}, {64, 64}, {100_000, 700}, {1, 1}, {1000, 1000}}, 2) {
		value := func(from, to int) uint64 {
			switch to - from {
			case 0:
				return 1e6
			case 1:
				return 1000
			}
			return 0
		}
		h := answer.HeatMap{Title: "title", Scale: "bytes", Ranks: tt.ranks, Bins: tt.bins, Value: value, Text: text.Bytes[uint64]}
		var b bytes.Buffer
		if err := h.Write(&b, "png"); err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		at := h.Draw(draw.New(vgimg.NewWith(vgimg.UseWH(answer.HeatWidth, answer.HeatHeight), vgimg.UseDPI(h.DPI()))), false)
		dpi := float64(h.DPI())
		side := at.Size().X.Dots(dpi) / float64(tt.bins)
		if math.Abs(float64(at.Size().X-at.Size().Y)) > 1 {
			t.Errorf("%d ranks: the cells are a rectangle of %v by %v", tt.ranks, at.Size().X, at.Size().Y)
		}
		if side < 1 {
			t.Errorf("%d ranks: a cell has %v pixels", tt.ranks, side)
		}
		for _, cell := range [][2]int{{0, 0}, {tt.bins / 2, tt.bins / 2}, {0, 1}, {0, 3}, {3, 0}} {
			if max(cell[0], cell[1]) >= tt.bins || side < 4 {
				continue // at the edges, lines cover what is so small
			}
			want := color.RGBA{255, 255, 255, 255}
			if v := value(cell[0], cell[1]); v > 0 {
				want = answer.HeatColor(h.NewScale().Place(v))
			}
			x := at.Min.X.Dots(dpi) + side*(float64(cell[1])+0.5)
			y := (answer.HeatHeight - at.Max.Y).Dots(dpi) + side*(float64(cell[0])+0.5)
			if got := color.RGBAModel.Convert(m.At(int(x), int(y))); got != want {
				t.Errorf("%d ranks: the colour from %d to %d is %v, want %v", tt.ranks, cell[0], cell[1], got, want)
			}
		}
	}
}

// mustMatrix writes a matrix to a file, which must be told.
func mustMatrix(t *testing.T, want string, args ...string) {
	t.Helper()
	r := invoke(t, "", append([]string{"matrix"}, args...)...)
	if r.status != cli.ExitOK || !strings.HasPrefix(r.stdout, want+", ") || strings.Count(r.stdout, "\n") != 1 || r.stderr != "" {
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
		{"from", "to", "messages", "bytes", "messages_of_unknown_size", "blocks", "exchanged_bytes", "blocks_of_unknown_size"},
	}
	// Each sends 100 messages to the next, and all add up a number of 8 bytes 10 times.
	for from := range 4 {
		for to := range 4 {
			messages := []string{"0", "0", "0"}
			if to == (from+1)%4 {
				messages = []string{"100", "3200", "0"}
			}
			if to != from {
				want = append(want, slices.Concat([]string{strconv.Itoa(from), strconv.Itoa(to)}, messages, []string{"10", "80", "0"}))
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
	for _, text := range []string{">to rank<", ">from rank<", ">messages and blocks from 2 ranks to as many others<", ">ring.rpz: 400 messages, 12.8 kB; collective 120 blocks, 960 B<", ">100<", ">0<"} {
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
		{"p2p", "point-to-point", "from,to,messages,bytes,messages_of_unknown_size\n0,1,100,3200,0\n1,2,", "bytes from one rank to another", "ring.rpz: 400 messages, 12.8 kB"},
		{"collective", "collective", "from,to,blocks,exchanged_bytes,blocks_of_unknown_size\n0,1,10,80,0\n0,2,10,80,0\n", "bytes from one rank to another", "ring.rpz: collective 120 blocks, 960 B"},
	} {
		mustMatrix(t, "m.csv: matrix of 4 ranks, "+tt.told+"", "ring.rpz", "-o", "m.csv", "--kind", tt.kind)
		if got := readFile(t, "m.csv"); !strings.HasPrefix(got, tt.first) {
			t.Errorf("%s: %q", tt.kind, got)
		}
		mustMatrix(t, "m.svg: matrix of 4 ranks, "+tt.told+"", "ring.rpz", "-o", "m.svg", "--kind", tt.kind)
		if got := readFile(t, "m.svg"); !strings.Contains(got, ">"+tt.title+"<") || !strings.Contains(got, ">"+tt.scale+"<") {
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
		{"matrix ring.rpz -o m --format gif", cli.ExitUsage, `invalid argument "gif" for "--format" flag: must be svg, png or csv`},
		{"matrix ring.rpz -o m.png --of calls", cli.ExitUsage, `invalid argument "calls" for "--of" flag: must be bytes or messages`},
		{"matrix ring.rpz -o m.png --scale x", cli.ExitUsage, `invalid argument "x" for "--scale" flag: must be log or linear`},
		{"matrix ring.rpz -o m.png --bins 0", cli.ExitUsage, "--bins is from 1 to 2048, not 0"},
		{"matrix ring.rpz -o ring.rpz --format png", cli.ExitUsage, "ring.rpz is an input"},
		{"matrix noisy.rpz -o m.png", cli.ExitFailure, "noisy.rpz: no rank sends anything to another: there is nothing to draw"},
		{"matrix empty.rpz -o m.png", cli.ExitFailure, "empty.rpz: no rank sends anything to another: there is nothing to draw"},
		{"matrix empty.rpz -o m.png --kind p2p", cli.ExitFailure, "empty.rpz: no rank sends a message: there is nothing to draw"},
		{"matrix empty.rpz -o m.png --kind collective", cli.ExitFailure, "empty.rpz: collective operations exchange no data: there is nothing to draw"},
		{"matrix ring.rpz -o m.png --force", cli.ExitUsage, "--force goes with --format csv"},
		{"matrix ring.rpz -o m.png --kind all", cli.ExitUsage, `invalid argument "all" for "--kind" flag: must be both, p2p or collective`},
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

// TestMatrixOfHuge asks for a line for each pair of ranks of which a small file claims that there are billions.
func TestMatrixOfHuge(t *testing.T) {
	t.Chdir(t.TempDir())
	scan := []testtrace.Call{testtrace.MPICall("MPI_Scan", "sendbuf", 1, "recvbuf", 2, "count", 2, "datatype", "MPI_INT", "op", "MPI_SUM", "comm", "MPI_COMM_WORLD")}
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

// TestHeatScale checks the marks of scales.
func TestHeatScale(t *testing.T) {
	for _, tt := range []struct {
		linear      bool
		least, most uint64
		want        string
	}{
		{false, 1, 1, "1"},
		{false, 100, 100, "10 20 50 100"},
		{false, 5, 3000, "5 10 20 50 100 200 500 1,000 2,000"},
		{false, 1, 123_456, "1 10 100 1,000 10,000 100,000"},
		{false, math.MaxUint64, math.MaxUint64, "2,000,000,000,000,000,000 5,000,000,000,000,000,000 10,000,000,000,000,000,000"},
		{true, 1, 1, "0 1"},
		{true, 7, 100, "0 20 40 60 80 100"},
		{true, 7, 9637, "0 2,000 4,000 6,000 8,000"},
	} {
		h := answer.HeatMap{Linear: tt.linear, Ranks: 2, Bins: 2, Text: text.Count[uint64], Value: func(from, to int) uint64 {
			return [][]uint64{{tt.least, 0}, {0, tt.most}}[from][to]
		}}
		s := h.NewScale()
		var labels []string
		for _, tick := range s.Ticks(h.Text) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != tt.want {
			t.Errorf("from %d to %d: %s, want %s", tt.least, tt.most, got, tt.want)
		}
		if s.Place(tt.most) != 1 || s.Place(tt.least) < 0 {
			t.Errorf("from %d to %d: at %v and %v", tt.least, tt.most, s.Place(tt.least), s.Place(tt.most))
		}
	}
}
