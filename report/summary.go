package report

import (
	"fmt"

	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// summarize writes the summary, which answers how long the run was, where the time is, who is
// slow, and whether it came to its end; and what is in the file.
func (p *page) summarize(tr *trace.Trace, o Options) {
	active := tr.RankSet().Len()
	p.Lead = fmt.Sprintf("%s by %s, from %s", text.Plural(p.profile.Calls, "call"),
		text.Plural(active, "rank"), printable(tr.Run().Source))
	if p.Banner != "" {
		p.Facts = append(p.Facts, fact{"End", "cut short", p.Banner})
	}
	p.summarizeTimes(active)
	if recorded(tr) && p.Banner == "" {
		p.Facts = append(p.Facts, fact{"End", "complete", "all ranks reached MPI_Finalize"})
	}
	p.summarizeFile(tr, o)
	if set := tr.Content().Recorded.Difference(tr.RankSet()); set.Len() > 0 {
		p.Remarks = append(p.Remarks, "Unreadable, and left out: ranks "+printable(set.String())+".")
	}
	if !tr.Content().Exact {
		p.Remarks = append(p.Remarks,
			"The trace was made to fit a size. Calls by function and rank are exact, and so are messages and bytes by function and pair of ranks. "+
				"Other arguments come from distributions, and the order of calls without a pattern is not kept.")
	}
	for _, d := range tr.Damage() {
		p.Remarks = append(p.Remarks, "Damaged in the file: "+printable(d.What)+" of ranks "+
			printable(d.Ranks.String())+".")
	}
	p.Foot = "Written by reprise report. Apache ECharts (Apache License 2.0) draws the charts; a part of it is in this page."
}

// summarizeTimes adds the facts about times.
func (p *page) summarizeTimes(active int) {
	run, estimated := p.length, !p.hasSeries
	f := fact{Name: "Run", Note: "from the first call to the last"}
	if r := p.run; r != nil {
		run, estimated = float64(r.Run), false
		f.Value = text.Around(r.Run, r.Error)
		if r.Startup+r.Shutdown > 0 {
			f.Note = fmt.Sprintf("from MPI_Init to MPI_Finalize; startup %s, shutdown %s",
				text.Duration(r.Startup), text.Duration(r.Shutdown))
			if s := answers.SeveralWorlds(r); s != "" {
				f.Note += ". " + s
			}
		}
	} else {
		f.Value = text.Duration(run)
	}
	if estimated {
		f.Note += ", estimated"
	}
	if run > 0 {
		p.Facts = append(p.Facts, f)
	}
	if share := p.inCalls / (run * float64(active)); p.byRank == nil && share > 0 && share <= 1 {
		p.Facts = append(p.Facts, fact{"Time in calls", text.Percent(share, 1), "of the time of all ranks"})
	}
	p.summarizeRanks()
	p.summarizeEfficiency()
	if f := p.data.Functions; p.profile.Timed && len(f) > 0 && p.inCalls > 0 && !query.OutsideRun(f[0].Name) {
		p.Facts = append(p.Facts, fact{"Top function", f[0].Name,
			text.Percent(*f[0].Time, p.inCalls) + " of the time in calls"})
	} else if len(f) > 0 {
		p.Facts = append(p.Facts, fact{"Top function", f[0].Name,
			text.Percent(float64(f[0].Calls), float64(p.profile.Calls)) + " of the calls"})
	}
	if r := p.waiting(); r != nil {
		whole := r.Time * query.Nanoseconds(r.Ranks)
		p.Facts = append(p.Facts, fact{"Waits", text.Around(r.Wait, r.WaitError),
			shareOf(float64(r.Wait), float64(whole)) + " of the time of all ranks"})
	} else if b := p.byRank; b != nil && p.Banner == "" && len(b.Functions) > 0 && b.Functions[0].Wait > 0 &&
		len(b.Ranks) > 1 && !query.OutsideRun(b.Functions[0].Name) {
		f := b.Functions[0]
		p.Facts = append(p.Facts, fact{"Wait time", printable(f.Name),
			fmt.Sprintf("%s in total beyond the fastest rank, %d", text.Around(f.Wait, f.WaitError), f.Fast.Rank)})
	}
}

// summarizeRanks adds the facts that tell ranks apart.
func (p *page) summarizeRanks() {
	if p.byRank == nil {
		return
	}
	if s := p.byRank.Share(); s != nil {
		f := fact{"Time in calls", text.Percent(s.Mean, 1), "of the time of all ranks"}
		if s.MinRank != s.MaxRank {
			f.Note = fmt.Sprintf("from %s on rank %d to %s on rank %d", text.Percent(s.Min, 1), s.MinRank,
				text.Percent(s.Max, 1), s.MaxRank)
		}
		p.Facts = append(p.Facts, f)
	}
	slow := p.byRank.Slowest()
	if slow == nil || p.Banner != "" { // who waits for ever is not slow
		return
	}
	p.Facts = append(p.Facts, fact{"Slowest rank", fmt.Sprint(slow.Rank),
		fmt.Sprintf("%s outside calls, mean %s", text.Around(slow.Outside, slow.Error),
			text.Around(slow.Mean, slow.Error))})
	if balance, ok := p.byRank.LoadBalance(); ok && (p.diagnosis == nil || p.diagnosis.Factors == nil) {
		p.Facts = append(p.Facts, fact{"Load balance", text.Percent(balance, 1),
			"mean time outside calls over that of the slowest rank"})
	}
}

// summarizeEfficiency adds how efficient the run was, as the diagnosis has it.
func (p *page) summarizeEfficiency() {
	if p.diagnosis == nil || p.diagnosis.Factors == nil {
		return
	}
	f := p.diagnosis.Factors
	p.Facts = append(p.Facts, fact{"Parallel efficiency", answers.Factor(f.Parallel), "load balance × communication"},
		fact{"Load balance", answers.Factor(f.LoadBalance), "mean time outside calls over that of the slowest rank"})
	if f.Serialization == nil || f.Transfer == nil {
		p.Facts = append(p.Facts, fact{"Communication", answers.Factor(min(1, f.Communication)), "efficiency"})
		return
	}
	p.Facts = append(p.Facts,
		fact{"Serialization", answers.Factor(*f.Serialization), "efficiency on a network that takes no time"},
		fact{"Transfer", answers.Factor(*f.Transfer), "efficiency of the network and MPI"})
}

// summarizeFile adds what is in the file.
func (p *page) summarizeFile(tr *trace.Trace, o Options) {
	run, active := tr.Run(), tr.RankSet().Len()
	ranks := fact{"Ranks", text.Count(run.Ranks), ""}
	if active < run.Ranks {
		ranks.Note = text.Count(active) + " made calls"
	}
	calls := fact{"Calls", text.Count(p.profile.Calls), ""}
	if active > 0 {
		calls.Note = "about " + text.Count(p.profile.Calls/uint64(active)) + " by each rank"
	}
	shapes := fact{"Shapes", text.Count(tr.Shapes()), "of control flow"}
	if p.programs > 0 {
		shapes.Note = "of " + text.Plural(p.programs, "program")
	}
	if n := len(p.data.Nodes); n > 0 {
		p.File = append(p.File, fact{"Nodes", text.Count(n), ""})
	}
	p.File = append(p.File, ranks, calls,
		fact{"Functions", text.Count(len(p.profile.Functions)), ""},
		differentCalls(tr),
		shapes)
	if o.Bytes > 0 {
		file := fact{"File", text.Bytes(o.Bytes), ""}
		if p.profile.Calls > 0 {
			file.Note = fmt.Sprintf("%.3g bits a call", 8*float64(o.Bytes)/float64(p.profile.Calls))
		}
		p.File = append(p.File, file)
	}
	p.File = append(p.File, p.timesFact(tr))
	if run := tr.Run(); len(run.Clocks) > 0 {
		p.File = append(p.File, fact{"Clocks", text.Count(len(run.Clocks)), answers.Clocks(run.Clocks)})
	}
}

// timesFact says what times the trace has.
func (p *page) timesFact(tr *trace.Trace) fact {
	best, series, err := p.times.Known()
	switch {
	case err != nil:
		return fact{"Times", "unreadable", ""}
	case best == query.Series && series.Len() == tr.RankSet().Len():
		return fact{"Times", "of every call", errorNote(p.guarantee)}
	case best == query.Series:
		return fact{"Times", "of every call", "of " + text.Plural(series.Len(), "rank") + ", " + errorNote(p.guarantee)}
	case best != query.None:
		return fact{"Times", best.String(), "of each signature"}
	}
	none := fact{"Times", "none", ""}
	if recorded(tr) {
		none.Note = "record with --times statistics"
	}
	return none
}

// differentCalls returns how many calls differ in more than arguments that advance.
func differentCalls(tr *trace.Trace) fact {
	n, note := 0, "by their arguments"
	for s := range tr.Signatures() {
		if layout.StreamRoleOf(&tr.Functions()[tr.FunctionOf(s)]) == layout.NoStream {
			n++
		} else {
			note = "by their arguments, but for what advances"
		}
	}
	return fact{"Different calls", text.Count(n), note}
}
