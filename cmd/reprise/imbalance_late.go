package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/semantics"
	"github.com/reprise-trace/reprise/timing"
)

// A lateSenderInfo is how long receives wait for senders that come late.
type lateSenderInfo struct {
	Signature int     `json:"signature"` // its number
	Call      string  `json:"call"`
	Receives  uint64  `json:"receives"`
	Sampled   int     `json:"looked_at"`
	Late      int     `json:"late"`         // of these
	Wait      float64 `json:"wait_ns"`      // of all receives, by those
	Sender    int     `json:"sender"`       // that made those wait most
	Share     float64 `json:"sender_share"` // of how long they waited, from 0 to 1
	Error     float64 `json:"relative_error"`
}

// addLate adds the receives that wait for late senders, among the ranks of an option, if it
// is known what messages there are. Ranks that cannot be read are told of elsewhere.
func (i *imbalanceInfo) addLate(cmd *cobra.Command, trace *reprise.Trace, times *query.Times, ranks string) error {
	model, err := semantics.Open(cmd.Context(), trace)
	if err != nil || !model.Known() {
		return err
	}
	q := query.Options{Unreadable: func(int, error) {}}
	if cmd.Flags().Changed("ranks") {
		chosen, err := chosenRanks(cmd, ranks, trace, i.Path)
		if err != nil {
			return err
		}
		q.Ranks = &chosen
	}
	m, err := query.OpenMatch(cmd.Context(), model, q)
	if err != nil {
		return err
	}
	list, err := m.LateSenders(cmd.Context(), times, q)
	if err != nil {
		return err
	}
	describe := signaturesOf(trace)
	for _, s := range list {
		if s.Late == 0 {
			continue
		}
		info := lateSenderInfo{s.Signature, "", s.Receives, s.Sampled, s.Late, s.Wait, s.Sender, s.SenderShare, float64(s.Guarantee)}
		if words, err := describe(nil, s.Signature); err == nil {
			info.Call = words.String()
		} else {
			info.Call = text.Printable(trace.Functions()[trace.Merged().FunctionOf(s.Signature)].Name) + "(cannot be read)"
		}
		i.Late = append(i.Late, info)
	}
	return nil
}

func (i *imbalanceInfo) printLate(w io.Writer, most int) {
	if len(i.Late) == 0 {
		return
	}
	weakest, some := 0.0, ""
	for _, s := range i.Late {
		weakest = max(weakest, s.Error)
		if uint64(s.Sampled) < s.Receives {
			some = "; how long all wait is concluded from those looked at"
		}
	}
	fmt.Fprintf(w, "\nreceives that block and wait for a send that begins later,\nby the times of every call, %s%s\n\n", text.Error(timing.Guarantee(weakest)), some)
	out := newTable(w)
	fmt.Fprintf(out, "wait\t\treceives\tlooked at\tlate\tmostly for\t  call\n")
	for _, s := range i.Late[:min(len(i.Late), most)] {
		fmt.Fprintf(out, "%s\t%.1f %%\t%s\t%s\t%s\t%d, %.0f %%\t  %s\n", text.Duration(s.Wait), 100*s.Wait/i.Total, text.Count(s.Receives),
			text.Count(s.Sampled), text.Percent(uint64(s.Late), uint64(s.Sampled)), s.Sender, 100*s.Share, s.Call)
	}
	out.Flush()
	if n := len(i.Late) - most; n > 0 {
		fmt.Fprintf(w, "\nand %s more: --all shows them\n", text.Count(n))
	}
}
