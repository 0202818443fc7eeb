package diagnosis_test

import (
	"math"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

const (
	ms    = int64(1e6)
	ranks = 4
)

// late returns a program in which rank 2 computes 20 ms in each of 10 iterations, and the others 1 ms, before
// a barrier. Its startup takes 300 ms.
func late() (calls [][]testtrace.Call) {
	for rank := range ranks {
		var of []testtrace.Call
		now := int64(0)
		call := func(name string, gap, duration int64, pairs ...any) {
			c := testtrace.MPICall(name, pairs...)
			c.Start, c.Duration = now+gap, duration
			now = c.Start + duration
			of = append(of, c)
		}
		call("MPI_Init", 10*ms, 290*ms)
		for range 10 {
			gap := 1 * ms
			if rank == 2 {
				gap = 20 * ms
			}
			call("MPI_Comm_rank", 0, 0, "comm", "MPI_COMM_WORLD", "rank", rank)
			call("MPI_Barrier", gap, 21*ms-gap, "comm", "MPI_COMM_WORLD")
		}
		call("MPI_Finalize", 0, 50*ms)
		calls = append(calls, of)
	}
	return calls
}

func open(t *testing.T, tr *trace.Trace) *diagnosis.Diagnosis {
	t.Helper()
	d, err := diagnosis.Open(t.Context(), tr, diagnosis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDiagnosis checks what is known of a planted delay with statistics, and with the times of every call.
func TestDiagnosis(t *testing.T) {
	for _, times := range []testtrace.Times{testtrace.Statistics, testtrace.Series} {
		d := open(t, testtrace.RecordTimes(t, times, late()))
		exact := times == testtrace.Series
		near := func(got, want float64) bool { return math.Abs(got-want) < 0.01*want }
		switch f := d.Factors; {
		case !near(float64(d.Run), 210e6) || !near(float64(d.Startup), 290e6) || !near(float64(d.Shutdown), 50e6):
			t.Errorf("%s: times of the run are %+v", times, d.RunTimes)
		case f == nil || !near(f.Parallel, 23.0/4/21) || !near(f.LoadBalance, 23.0/4/20) ||
			!near(f.Communication, 20.0/21):
			t.Errorf("%s: factors are %+v", times, f)
		case (f.Transfer != nil) != exact || (f.Serialization != nil) != exact || d.Exact != exact || d.Series != exact:
			t.Errorf("%s: %+v, %+v", times, d, f)
		}
		switch s := d.Slowest; {
		case s == nil || s.Rank != 2 || !near(float64(s.Outside), 200e6) || !near(float64(s.Mean), 230e6/4):
			t.Errorf("%s: slowest is %+v", times, s)
		case s.From == nil || s.To == nil || s.From.Function != "MPI_Comm_rank" || s.To.Function != "MPI_Barrier" ||
			!near(float64(s.Time), 200e6):
			t.Errorf("%s: slowest is %+v from %+v to %+v", times, s, s.From, s.To)
		}
		w := d.Waiting
		if (w != nil) != exact {
			t.Fatalf("%s: waiting is %+v", times, w)
		}
		if exact && (w.Ranks.String() != "0-1, 3" || w.Rank != 2 || !near(float64(w.Wait), 3*19e7) ||
			w.Caused != w.Wait ||
			w.Cause.InCall || w.Cause.To.Function != "MPI_Barrier") {
			t.Errorf("waiting is %+v for %+v", w, w.Cause)
		}
	}
}

// TestIncomplete has messages that nobody receives, and a rank whose clock is ahead: it is not known who waits.
func TestIncomplete(t *testing.T) {
	sends := late()
	for rank := range sends {
		send := testtrace.MPICall("MPI_Send", "buf", 0, "count", 1, "datatype", "MPI_BYTE", "dest", (rank+1)%ranks,
			"tag", 1, "comm", "MPI_COMM_WORLD")
		send.Start = 305 * ms
		sends[rank] = append(sends[rank][:1:1], append([]testtrace.Call{send}, sends[rank][1:]...)...)
	}
	d := open(t, testtrace.RecordTimes(t, testtrace.Series, sends))
	if d.Unreceived != ranks || d.Factors == nil || d.Factors.Serialization != nil || d.Factors.Transfer != nil ||
		d.Apart != 0 || d.Waits == nil {
		t.Errorf("%+v, %+v", d, d.Factors)
	}
	ahead := late()
	for i := range ahead[1] {
		ahead[1][i].Start += 100 * ms
	}
	d = open(t, testtrace.RecordTimes(t, testtrace.Series, ahead))
	if d.Unreceived != 0 || d.Factors == nil || d.Factors.Serialization != nil || d.Factors.Transfer != nil ||
		d.Apart != query.Nanoseconds(80*ms) || d.Waits != nil || d.Waiting != nil || d.Exact {
		t.Errorf("%+v, %+v", d, d.Factors)
	}
}

// TestWithoutTimes has a trace that does not tell how long the run was.
func TestWithoutTimes(t *testing.T) {
	if d := open(t, testtrace.Record(t, merge.Run{}, false, late())); d != nil {
		t.Errorf("%+v", d)
	}
}

// TestRecordingOff has a rank of which recording was off for a part of the run: that is no time of computing.
func TestRecordingOff(t *testing.T) {
	run := merge.Run{Origin: format.Origin{World: 4, Off: rankenc.SetOf(1)}}
	d := open(t, testtrace.Record(t, run, true, late()))
	if d == nil || !d.Off || d.OffRanks.String() != "1" || d.Factors != nil || d.Share != nil || d.Slowest != nil {
		t.Errorf("%+v", d)
	}
}

func TestMisuse(t *testing.T) {
	tr := testtrace.RecordTimes(t, testtrace.Statistics, late())
	misuse.Walk{Package: "diagnosis", Functions: []any{diagnosis.Open}, Values: []any{tr}}.Run(t)
}

// TestAborted has a rank that calls MPI_Abort: the diagnosis names it.
func TestAborted(t *testing.T) {
	calls := late()
	for rank := range calls {
		of := calls[rank][:len(calls[rank])-1]
		if rank == 1 {
			abort := testtrace.MPICall("MPI_Abort", "comm", "MPI_COMM_WORLD", "errorcode", 7, "returned", 0)
			abort.Start = of[len(of)-1].Start + 30*ms
			of = append(of[:len(of):len(of)], abort)
		}
		calls[rank] = of
	}
	d := open(t, testtrace.RecordTimes(t, testtrace.Statistics, calls))
	if d.Early.String() != "0-3" || d.Aborted.String() != "1" {
		t.Errorf("%v ended early, %v aborted", d.Early, d.Aborted)
	}
	if d = open(t, testtrace.RecordTimes(t, testtrace.Statistics, late())); d.Aborted.Len() > 0 {
		t.Errorf("%v aborted", d.Aborted)
	}
}
