package answer

import (
	"bytes"
	"image/color"
	"image/png"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/internal/text"
)

// TestMatrixPicture checks the colours of a picture: where there is something, where
// there is most, and where there is nothing.
func TestMatrixPicture(t *testing.T) {
	tier.SlowRace(t)
	for _, tt := range tier.Some([]struct{ ranks, bins int }{{4, 4}, {64, 64}, {100_000, 700}, {1, 1},
		{1000, 1000}}, 2) {
		value := func(from, to int) uint64 {
			switch to - from {
			case 0:
				return 1e6
			case 1:
				return 1000
			}
			return 0
		}
		h := heatMap{title: "title", scale: "bytes", ranks: tt.ranks, bins: tt.bins, value: value,
			text: text.Bytes[uint64]}
		var b bytes.Buffer
		if err := h.write(&b, "png"); err != nil {
			t.Fatal(err)
		}
		m, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		at := h.draw(draw.New(vgimg.NewWith(vgimg.UseWH(heatWidth, heatHeight), vgimg.UseDPI(h.dpi()))), false)
		dpi := float64(h.dpi())
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
				want = heatColor(h.newScale().place(v))
			}
			x := at.Min.X.Dots(dpi) + side*(float64(cell[1])+0.5)
			y := (heatHeight - at.Max.Y).Dots(dpi) + side*(float64(cell[0])+0.5)
			if got := color.RGBAModel.Convert(m.At(int(x), int(y))); got != want {
				t.Errorf("%d ranks: the colour from %d to %d is %v, want %v", tt.ranks, cell[0], cell[1], got, want)
			}
		}
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
		{false, math.MaxUint64, math.MaxUint64,
			"2,000,000,000,000,000,000 5,000,000,000,000,000,000 10,000,000,000,000,000,000"},
		{true, 1, 1, "0 1"},
		{true, 7, 100, "0 20 40 60 80 100"},
		{true, 7, 9637, "0 2,000 4,000 6,000 8,000"},
	} {
		h := heatMap{linear: tt.linear, ranks: 2, bins: 2, text: text.Count[uint64], value: func(from, to int) uint64 {
			return [][]uint64{{tt.least, 0}, {0, tt.most}}[from][to]
		}}
		s := h.newScale()
		var labels []string
		for _, tick := range s.ticks(h.text) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != tt.want {
			t.Errorf("from %d to %d: %s, want %s", tt.least, tt.most, got, tt.want)
		}
		if s.place(tt.most) != 1 || s.place(tt.least) < 0 {
			t.Errorf("from %d to %d: at %v and %v", tt.least, tt.most, s.place(tt.least), s.place(tt.most))
		}
	}
}
