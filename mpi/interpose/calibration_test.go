package interpose

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

// calibrated is what a calibrator writes, behind what launchers write.
const calibrated = `a word of the launcher
[1,0]<stdout>:reprise-calibrate	rank	0	0	8

reprise-calibrate	rank	1	0	8
reprise-calibrate	one-way	within	1	400.0	410.0	420.0
reprise-calibrate	one-way	within	8	400.0	430.0	440.0
reprise-calibrate	one-way	within	1	390.0	400.0	450.0
reprise-calibrate	send	within	8	50.0	60.0	70.0
reprise-calibrate	receive	within	8	50.0	40.0	70.0
reprise-calibrate	gap	within	8	50.0	90.0	100.0
reprise-calibrate	alone	within	65536	1.0	2.0	3.0
reprise-calibrate	together	within	65536	6.0	7.0	8.0
reprise-calibrate	eager	within	4096	0.0	0.0	0.0
reprise-calibrate	collective	barrier	0	500.0	510.0	520.0
reprise-calibrate	delayed	0.25
reprise-calibrate	end
`

// TestReadCalibration checks what is read, and what is refused.
func TestReadCalibration(t *testing.T) {
	var others strings.Builder
	c, err := ReadCalibration(strings.NewReader(calibrated), &others)
	if err != nil {
		t.Fatal(err)
	}
	w := c.Within
	if len(c.Nodes) != 2 || c.Processors != 8 || c.Between != nil || w == nil ||
		w.OneWay[0] != (MessageTime{1, 400, 390, 450}) || len(w.OneWay) != 2 ||
		w.Send != 60 || w.Receive != 40 || w.Gap != 90 || w.Alone != 2 || w.Together != 7 ||
		w.EagerLimit != 4096 || w.Unlimited || c.Collectives[0] != (CollectiveTime{"barrier", 0, 510}) ||
		c.Delayed != 0.25 {
		t.Errorf("%+v, %+v", c, w)
	}
	if others.String() != "a word of the launcher\n" {
		t.Errorf("the launcher wrote %q", others.String())
	}
	for _, line := range []string{
		"rank\t0\t0\t8", "rank\t2\t3\t8", "rank\t2\t-1\t8", "rank\tx\t0\t8", "one-way\twithin\t1\t1\t1",
		"one-way\tthere\t1\t1\t1\t1", "all\twithin\t1\t1\t1\t1",
		"one-way\twithin\t1\t1\tNaN\t1", "one-way\twithin\t1\t-1\t1\t1", "one-way\twithin\t1e9\t1\t1\t1",
		"one-way\twithin\t-1\t1\t1\t1", "delayed\t-0.1", "delayed\tNaN", "delayed\t1.5",
	} {
		text := strings.Replace(calibrated, "reprise-calibrate\tend",
			"reprise-calibrate\t"+line+"\nreprise-calibrate\tend", 1)
		if c, err := ReadCalibration(strings.NewReader(text), &others); err == nil {
			t.Errorf("%q: %+v", line, c)
		}
	}
	if _, err := ReadCalibration(
		strings.NewReader(strings.TrimSuffix(calibrated, "reprise-calibrate\tend\n")), &others); err == nil {
		t.Error("no end, and no error")
	}
	if _, err := ReadCalibration(strings.NewReader("usage: launcher\n"), &others); err == nil ||
		err.Error() != "interpose: nothing was measured" {
		t.Errorf("nothing measured: %v", err)
	}
}

// TestReadCalibrationAnything checks that no lines do any harm.
func TestReadCalibrationAnything(t *testing.T) {
	fields := rapid.SampledFrom([]string{"", "rank", "one-way", "send", "eager", "unlimited", "collective",
		"end", "delayed", "within", "between", "0", "1", "-1", "1e300", "Inf", "9223372036854775807", "x"})
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		for _, line := range rapid.SliceOfN(rapid.SliceOfN(fields, 1, 7), 0, 9).Draw(t, "lines") {
			text.WriteString("reprise-calibrate\t" + strings.Join(line, "\t") + "\n")
		}
		if c, err := ReadCalibration(strings.NewReader(text.String()), &strings.Builder{}); (c == nil) != (err != nil) {
			t.Errorf("%+v, %v", c, err)
		}
	})
}
