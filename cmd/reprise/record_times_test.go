package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// TestTimesWords checks that codecs are called what --times calls them.
func TestTimesWords(t *testing.T) {
	for _, c := range timing.Codecs() {
		codec, err := c.New(0.1)
		if err != nil || layout.CodecWord(codec.Name()) != c.Word {
			t.Errorf("codec %s is called %s, %v", c.Word, layout.CodecWord(codec.Name()), err)
		}
	}
	for name, want := range map[string]string{
		"gaps;entropy,epsilon=0.1;entropy,epsilon=0.1":                                                               "entropy",
		"intervals;lossless,compressor=zstd;lossless,compressor=zstd":                                                "zstd,intervals",
		"gaps;bins,epsilon=0.1;lossless,compressor=lz4":                                                              "exponential,gaps=lz4",
		`gaps;functions{"a"=bins,epsilon=0.01|"b"=lossless,compressor=zstd|grammar,epsilon=0.1};grammar,epsilon=0.1`: "grammar a=1% b=0",
		"gaps,starts=10000;entropy,epsilon=0.1;entropy,epsilon=0.1":                                                  "entropy start=10µs",
		"another": "another",
	} {
		if got := layout.SeriesWords(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestTimesFlag checks what --times and --error choose: the codec of a series,
// histograms, and the codecs of functions.
func TestTimesFlag(t *testing.T) {
	for _, tt := range []struct {
		flags      string
		series     string
		histograms string
		functions  map[string]string
	}{
		{flags: ""},
		{flags: "--times none"},
		{flags: "--times statistics"},
		{flags: "--times histograms", histograms: "histograms"},
		{flags: "--times paths", histograms: "paths"},
		{flags: "--times all", series: "gaps,starts=10000;entropy,epsilon=0.1;entropy,epsilon=0.1"},
		{flags: "--times all --error 1%", series: "gaps,starts=10000;entropy,epsilon=0.01;entropy,epsilon=0.01"},
		{flags: "--times entropy --error 0.05", series: "gaps;entropy,epsilon=0.05;entropy,epsilon=0.05"},
		{flags: "--times exponential --error 0.1%", series: "gaps;bins,epsilon=0.001;bins,epsilon=0.001"},
		{flags: "--times hist", series: "gaps;hist,epsilon=0.1,samples=100,bits=5;hist,epsilon=0.1,samples=100,bits=5"},
		{flags: "--times grammar", series: "gaps;grammar,epsilon=0.1;grammar,epsilon=0.1"},
		{flags: "--times exact", series: "gaps;lossless,compressor=zstd;lossless,compressor=zstd"},
		{flags: "--times zstd", series: "gaps;lossless,compressor=zstd;lossless,compressor=zstd"},
		{flags: "--times lz4,paths", series: "gaps;lossless,compressor=lz4;lossless,compressor=lz4",
			histograms: "paths"},
		{flags: "--times statistics,all,intervals",
			series: "intervals,starts=10000;entropy,epsilon=0.1;entropy,epsilon=0.1"},
		{flags: "--times all --error 20% --error MPI_Waitall=1% --error MPI_Init=0",
			series: "gaps,starts=10000;entropy,epsilon=0.2;entropy,epsilon=0.2",
			functions: map[string]string{"MPI_Waitall": "entropy,epsilon=0.01",
				"MPI_Init": "lossless,compressor=zstd"}},
		{flags: "--times all --error start=1us --error 5%",
			series: "gaps,starts=1000;entropy,epsilon=0.05;entropy,epsilon=0.05"},
		{flags: "--times exact --error MPI_Test=0.5", series: "gaps;lossless,compressor=zstd;lossless,compressor=zstd",
			functions: map[string]string{"MPI_Test": "entropy,epsilon=0.5"}},
	} {
		t.Run(tt.flags, func(t *testing.T) {
			var flag cli.TimesFlag
			cmd := new(cobra.Command)
			flag.AddTo(cmd)
			if err := cmd.ParseFlags(strings.Fields(tt.flags)); err != nil {
				t.Fatal(err)
			}
			o, err := flag.Options()
			if err != nil {
				t.Fatal(err)
			}
			series, histograms := "", ""
			if o.Times.Series != nil {
				series = o.Times.Series.Name()
			}
			if o.Times.Histograms != nil {
				histograms = map[bool]string{false: "histograms", true: "paths"}[o.Times.Histograms.PathSensitive]
			}
			if series != tt.series || histograms != tt.histograms ||
				o.Untimed != strings.Contains(tt.flags, "none") || len(o.Times.DurationsOf) != len(tt.functions) {
				t.Errorf("series %q, histograms %q, %+v", series, histograms, o)
			}
			for name, want := range tt.functions {
				if c := o.Times.DurationsOf[name]; c == nil || c.Name() != want {
					t.Errorf("the codec of %s is %v, want %s", name, c, want)
				}
			}
			if _, err := tracer.New(o.Times); err != nil {
				t.Errorf("a tracer does not take that: %v", err)
			}
			again := new(cobra.Command)
			var same cli.TimesFlag
			same.AddTo(again)
			if err := again.ParseFlags(flag.Args()); err != nil ||
				strings.Join(same.Args(), " ") != strings.Join(flag.Args(), " ") {
				t.Errorf("%q passed on is %q, %v", flag.Args(), same.Args(), err)
			}
		})
	}
}

// TestInfoStarts checks that info says how far starts are off where that is bounded, and nothing of them
// elsewhere, as of the few calls that --times all keeps exactly.
func TestInfoStarts(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, tt := range []struct {
		flags, want string
		calls       int64
	}{
		{"--times entropy --error start=10us", "\nstarts of the calls of ranks 0-1: at most 10.0 µs off\n", 100},
		{"--times all", "\nstarts of the calls of ranks 0-1: at most 10.0 µs off\n", 10_000},
		{"--times all", "", 100},
		{"--times entropy", "", 100},
	} {
		var flag cli.TimesFlag
		cmd := new(cobra.Command)
		flag.AddTo(cmd)
		if err := cmd.ParseFlags(strings.Fields(tt.flags)); err != nil {
			t.Fatal(err)
		}
		o, err := flag.Options()
		if err != nil {
			t.Fatal(err)
		}
		var parts []merge.Part
		for rank := range 2 {
			r, err := tracer.New(o.Times)
			if err != nil {
				t.Fatal(err)
			}
			f := r.Declare(cst.Function{Name: "f"})
			random := rand.New(rand.NewPCG(1, uint64(rank)))
			for i := range tt.calls {
				r.CallAt(f, 1e6*i+random.Int64N(3e5), 300+random.Int64N(1e5))
			}
			parts = append(parts, r.Finish(rank))
		}
		writeTrace(t, "run.rpz", merge.Run{Ranks: 2, Source: "test"}, parts...)
		got := must(t, "info", "run.rpz")
		if tt.want == "" && strings.Contains(got, "starts of") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q is not in\n%s", tt.flags, tt.want, got)
		}
		var i struct {
			Times struct {
				Codecs []struct {
					Starts *float64 `json:"start_error_ns"`
				}
			}
		}
		decodeJSON(t, &i, "info", "run.rpz", "--json")
		if c := i.Times.Codecs; len(c) != 1 || (c[0].Starts != nil) != (tt.want != "") ||
			c[0].Starts != nil && *c[0].Starts != 10_000 {
			t.Errorf("%s: %+v", tt.flags, c)
		}
	}
}
