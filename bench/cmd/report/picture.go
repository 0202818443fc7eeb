package main

import (
	"bytes"
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/reprise-trace/reprise/bench"
)

// exactAt is where on the axis of relative errors, which is logarithmic and has no
// 0, the codecs are that have none.
const exactAt = 0.0004

// width and height are the size of the picture in points.
const width, height = 760, 480

var (
	black = color.RGBA{A: 255}
	gray  = color.RGBA{R: 224, G: 224, B: 224, A: 255}

	// colors can be told apart by the color-blind, too; shapes are a second mark.
	colors = []color.Color{
		color.RGBA{R: 0, G: 114, B: 178, A: 255},
		color.RGBA{R: 230, G: 159, B: 0, A: 255},
		color.RGBA{R: 0, G: 158, B: 115, A: 255},
		color.RGBA{R: 213, G: 94, B: 0, A: 255},
		color.RGBA{R: 204, G: 121, B: 167, A: 255},
		color.RGBA{R: 86, G: 180, B: 233, A: 255},
		color.RGBA{R: 0, G: 0, B: 0, A: 255},
		color.RGBA{R: 0, G: 0, B: 0, A: 255},
		color.RGBA{R: 150, G: 90, B: 30, A: 255},
	}
	shapes = []draw.GlyphDrawer{
		draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.RingGlyph{}, draw.CircleGlyph{}, draw.BoxGlyph{},
		draw.PyramidGlyph{}, draw.CrossGlyph{}, draw.PlusGlyph{}, draw.TriangleGlyph{},
	}
)

// chart returns the plot of sizes over errors.
func chart(s bench.SizesAndErrors) (*plot.Plot, error) {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	p := plot.New()
	p.Title.Text = fmt.Sprintf("Times of MPI calls: %s (%d durations and gaps)", strings.Join(s.Runs, ", "), s.Values)
	p.Title.Padding = vg.Points(8)
	p.X.Label.Text = "guaranteed relative error"
	p.Y.Label.Text = "bits per value"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	percent := func(x float64) string { return fmt.Sprintf("%g %%", 100*x) }
	p.X.Tick.Marker = append(ticks(percent, 0.001, 0.01, 0.05, 0.1, 0.2, 0.5),
		plot.Tick{Value: exactAt, Label: "exact"})
	p.Y.Tick.Marker = ticks(func(y float64) string {
		return fmt.Sprint(y)
	}, 1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 40, 60)
	p.Legend.Left = true // below the curves nothing is drawn there
	p.Legend.XOffs, p.Legend.YOffs = vg.Points(12), vg.Points(8)
	p.Legend.Padding = vg.Points(2)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = gray, gray
	p.Add(grid)
	style := 0
	for _, group := range []struct {
		curves []bench.Curve
		line   bool
	}{{s.Codecs, true}, {[]bench.Curve{s.Bound}, true}, {s.Exact, false}, {s.Peers, false}} {
		for _, c := range group.curves {
			var err error
			if c.Name == s.Bound.Name {
				err = addBound(p, c)
			} else {
				err = addCurve(p, c, style, group.line)
				style++
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
		}
	}
	p.X.Min, p.X.Max = exactAt*0.9, 0.55
	p.Y.Min, p.Y.Max = min(1, p.Y.Min), 1.1*p.Y.Max
	return p, nil
}

func ticks(label func(float64) string, values ...float64) plot.ConstantTicks {
	var t plot.ConstantTicks
	for _, v := range values {
		t = append(t, plot.Tick{Value: v, Label: label(v)})
	}
	return t
}

// points returns the points of a curve as they are drawn.
func points(c bench.Curve) plotter.XYs {
	var xys plotter.XYs
	for _, p := range c.Points {
		x := p.Error
		if x == 0 {
			x = exactAt
		}
		xys = append(xys, plotter.XY{X: x, Y: p.Bits})
	}
	return xys
}

// addCurve adds a codec in the style with that number.
func addCurve(p *plot.Plot, c bench.Curve, style int, line bool) error {
	l, s, err := plotter.NewLinePoints(points(c))
	if err != nil {
		return err
	}
	l.Color, s.Color = colors[style%len(colors)], colors[style%len(colors)]
	l.Width = vg.Points(1.5)
	s.Shape, s.Radius = shapes[style%len(shapes)], vg.Points(4)
	if line {
		p.Add(l, s)
		p.Legend.Add(c.Name, l, s)
	} else {
		p.Add(s)
		p.Legend.Add(c.Name, s)
	}
	return nil
}

// addBound adds the curve that a codec is to be near to.
func addBound(p *plot.Plot, c bench.Curve) error {
	l, err := plotter.NewLine(points(c))
	if err != nil {
		return err
	}
	l.Color, l.Width = black, vg.Points(1)
	l.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	p.Add(l)
	p.Legend.Add(c.Name, l)
	return nil
}

// picture returns an SVG of sizes over errors. It is the same whenever it is drawn,
// and has a white background of its own. Text stays text, in a font that every
// reader has.
func picture(s bench.SizesAndErrors) ([]byte, error) {
	p, err := chart(s)
	if err != nil {
		return nil, err
	}
	canvas := vgsvg.New(vg.Points(width), vg.Points(height))
	area := draw.New(canvas)
	canvas.SetColor(color.White)
	canvas.Fill(area.Rectangle.Path())
	margin := vg.Points(10)
	p.Draw(draw.Crop(area, margin, -margin, margin, -margin))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(svg.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")), nil
}
