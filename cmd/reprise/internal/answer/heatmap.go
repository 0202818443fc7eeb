package answer

import (
	"bytes"
	"image"
	"image/color"
	stddraw "image/draw"
	"image/png"
	"io"
	"math"
	"math/bits"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/reprise-trace/reprise/internal/text"
)

// A heatMap is a picture of numbers between ranks, sources from the top down.
type heatMap struct {
	title, scale string // scale says what the colours mean
	ranks, bins  int
	linear       bool                      // else logarithmic
	value        func(from, to int) uint64 // of bins; there is no colour for 0
	text         func(uint64) string       // a value with its unit
}

// Sizes of the picture.
const (
	heatWidth  = 570 * vg.Length(1)
	heatHeight = 500 * vg.Length(1)
	heatBar    = 115 * vg.Length(1) // of the width, what the scale takes
	heatDPI    = 144                // of a PNG of few cells

	heatBarWidth = 16 * vg.Length(1)
	heatPixels   = 1024 // of the cells along an axis in SVG, at least
)

// heatColors are those of viridis, from the least value to the most. They differ in
// lightness: in grey, in print, and for the colour-blind, too.
var heatColors = [...]color.RGBA{
	{253, 231, 37, 255}, {181, 222, 43, 255}, {110, 206, 88, 255}, {53, 183, 121, 255}, {31, 158, 137, 255},
	{38, 130, 142, 255}, {49, 104, 142, 255}, {62, 74, 137, 255}, {72, 40, 120, 255}, {68, 1, 84, 255},
}

// heatColor returns the colour of a place on the scale from 0 to 1.
func heatColor(place float64) color.RGBA {
	place = min(max(place, 0), 1) * float64(len(heatColors)-1)
	k := min(int(place), len(heatColors)-2)
	a, b, part := heatColors[k], heatColors[k+1], place-float64(k)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + part*(float64(b)-float64(a)))) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 255}
}

// write writes h as SVG or PNG.
func (h *heatMap) write(w io.Writer, format string) error {
	if format == "png" {
		c := vgimg.NewWith(vgimg.UseWH(heatWidth, heatHeight), vgimg.UseDPI(h.dpi()))
		h.paint(c.Image(), h.draw(draw.New(c), false))
		return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, c.Image())
	}
	c := vgsvg.New(heatWidth, heatHeight)
	h.draw(draw.New(c), true)
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	// What the library calls a JPEG is a PNG, which shall fill its place.
	_, err := strings.NewReplacer(
		"data:image/jpg;", "data:image/png;",
		"<image ", `<image preserveAspectRatio="none" `,
	).WriteString(w, b.String())
	return err
}

// dpi returns how many pixels of a PNG are an inch: so many that each cell has one.
func (h *heatMap) dpi() int { return max(heatDPI, heatDPI*h.bins/512) }

// draw draws h: the cells, if they are wanted, as a square, and the scale beside it. It
// returns where the cells are.
func (h *heatMap) draw(c draw.Canvas, whole bool) vg.Rectangle {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	scale := h.newScale()
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())

	cells := h.plotCells(scale, whole)
	left := draw.Crop(c, 12, -heatBar, 10, -12)
	area := cells.DataCanvas(left)
	if spare := area.Size().X - area.Size().Y; spare > 0 {
		left = draw.Crop(left, 0, -spare, 0, 0)
	} else {
		left = draw.Crop(left, 0, 0, -spare/2, spare/2)
	}
	cells.Draw(left)
	area = cells.DataCanvas(left)

	bar := scale.plot(h)
	right := draw.Crop(c, area.Max.X-c.Min.X+14, 0, 0, 0)
	for range 2 { // what the labels take does not change any more
		of := bar.DataCanvas(right)
		right = draw.Crop(right, 0, of.Min.X+heatBarWidth-of.Max.X, area.Min.Y-of.Min.Y, area.Max.Y-of.Max.Y)
	}
	bar.Draw(right)
	return area.Rectangle
}

// paint paints the cells, which are at a place that is given in points from below. It
// leaves the lines around them.
func (h *heatMap) paint(m stddraw.Image, at vg.Rectangle) {
	pixel := func(l vg.Length) int { return int(math.Round(l.Dots(float64(h.dpi())))) }
	left, right := pixel(at.Min.X), pixel(at.Max.X)
	top, bottom := pixel(heatHeight-at.Max.Y), pixel(heatHeight-at.Min.Y)
	scale := h.newScale()
	for y := top + 1; y < bottom; y++ {
		from := (y - top) * h.bins / (bottom - top)
		for x := left + 1; x < right; x++ {
			if v := h.value(from, (x-left)*h.bins/(right-left)); v > 0 {
				m.Set(x, y, heatColor(scale.place(v)))
			}
		}
	}
}

// newHeatPlot returns a plot in the style of the picture.
func newHeatPlot() *plot.Plot {
	p := plot.New()
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.Label.TextStyle.Font.Size = 11
		a.Tick.Label.Font.Size = 10
		a.LineStyle.Width, a.Tick.LineStyle.Width = 0.6, 0.6
		a.Tick.Length = 4
	}
	return p
}

func (h *heatMap) plotCells(s heatScale, whole bool) *plot.Plot {
	p := newHeatPlot()
	p.Title.Text = h.title
	p.Title.TextStyle.Font.Size, p.Title.Padding = 12, 10
	p.X.Label.Text, p.Y.Label.Text = "to rank", "from rank"
	p.X.Label.Padding, p.Y.Label.Padding = 4, 4
	size := float64(h.ranks)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, size, 0, size
	p.X.Tick.Marker = h.rankTicks(func(rank float64) float64 { return rank + 0.5 })
	p.Y.Tick.Marker = h.rankTicks(func(rank float64) float64 { return size - rank - 0.5 })
	if whole {
		p.Add(plotter.NewImage(h.image(s), 0, 0, size, size))
	}
	p.Add(frame{})
	return p
}

// frame draws the lines around what is plotted that no axis draws.
type frame struct{}

func (frame) Plot(c draw.Canvas, _ *plot.Plot) {
	c.StrokeLines(draw.LineStyle{Color: color.Black, Width: 0.6},
		[]vg.Point{c.Min, {X: c.Min.X, Y: c.Max.Y}, c.Max, {X: c.Max.X, Y: c.Min.Y}, c.Min})
}

// image returns the cells, each of several pixels, so that nothing blurs them.
func (h *heatMap) image(s heatScale) image.Image {
	side := (heatPixels + h.bins - 1) / h.bins
	palette := color.Palette{color.White}
	for i := range 255 {
		palette = append(palette, heatColor(float64(i)/254))
	}
	m := image.NewPaletted(image.Rect(0, 0, side*h.bins, side*h.bins), palette)
	for from := range h.bins {
		row := m.Pix[from*side*m.Stride:]
		for to := range h.bins {
			if v := h.value(from, to); v > 0 {
				index := 1 + uint8(math.Round(254*s.place(v)))
				for x := range side {
					row[to*side+x] = index
				}
			}
		}
		for y := 1; y < side; y++ {
			copy(row[y*m.Stride:][:m.Stride], row[:m.Stride])
		}
	}
	return m
}

// rankTicks returns marks at ranks that are the same distance apart: a power of two if
// the number of ranks is one.
func (h *heatMap) rankTicks(place func(rank float64) float64) plot.ConstantTicks {
	const most = 9
	step := 1
	for k := 0; (h.ranks-1)/step >= most; k++ {
		if bits.OnesCount(uint(h.ranks)) == 1 {
			step *= 2
		} else {
			step = []int{2, 5, 10}[k%3] * int(math.Pow10(k/3))
		}
	}
	var ticks plot.ConstantTicks
	for rank := 0; rank < h.ranks; rank += step {
		ticks = append(ticks, plot.Tick{Value: place(float64(rank)), Label: text.Count(rank)})
	}
	return ticks
}

// A heatScale says which colour a value has.
type heatScale struct {
	linear   bool
	min, max float64 // not equal; logarithms unless linear
}

// newScale returns the scale of the values of h. One that is logarithmic has a decade at
// least, so that what is nearly the same looks so.
func (h *heatMap) newScale() heatScale {
	least, most := uint64(math.MaxUint64), uint64(0)
	for from := range h.bins {
		for to := range h.bins {
			if v := h.value(from, to); v > 0 {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	s := heatScale{linear: h.linear, max: float64(max(most, 1))}
	if !h.linear {
		s.max = math.Log10(s.max)
		s.min = min(math.Log10(float64(least)), s.max-1)
	}
	return s
}

// place returns where a value is on the scale, from 0 to 1.
func (s heatScale) place(v uint64) float64 {
	at := float64(v)
	if !s.linear {
		at = math.Log10(at)
	}
	return (at - s.min) / (s.max - s.min)
}

// ticks returns marks at round values.
func (s heatScale) ticks(text func(uint64) string) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	add := func(v float64) {
		at := v
		if !s.linear {
			at = math.Log10(v)
		}
		if v >= 1 && at >= s.min-1e-9 && at <= s.max+1e-9 && v < math.MaxUint64 {
			ticks = append(ticks, plot.Tick{Value: at, Label: text(uint64(math.Round(v)))})
		}
	}
	if s.linear {
		ticks = append(ticks, plot.Tick{Value: 0, Label: text(0)})
		step := math.Pow10(int(math.Floor(math.Log10(s.max / 4))))
		for _, k := range []float64{5, 2} {
			if s.max/(step*k) >= 4 {
				step *= k
				break
			}
		}
		for v := step; v <= s.max*(1+1e-9); v += step {
			add(v)
		}
		return ticks
	}
	factors := []float64{1, 2, 5}
	if s.max-s.min > 3 {
		factors = factors[:1]
	}
	for decade := math.Floor(s.min); decade <= s.max; decade++ {
		for _, k := range factors {
			add(k * math.Pow(10, decade))
		}
	}
	return ticks
}

// plot returns the plot of the scale.
func (s heatScale) plot(h *heatMap) *plot.Plot {
	const steps = 256
	p := newHeatPlot()
	p.HideX()
	m := image.NewRGBA(image.Rect(0, 0, 1, steps))
	for i := range steps {
		m.SetRGBA(0, steps-1-i, heatColor(float64(i)/(steps-1)))
	}
	p.Add(plotter.NewImage(m, 0, s.min, 1, s.max), frame{})
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, s.min, s.max
	p.Y.Label.Text = h.scale
	p.Y.Label.Padding = 6
	p.Y.Tick.Marker = s.ticks(h.text)
	return p
}
