// Package events goes through the calls of a trace as stretches of time, for the
// exports that show them so.
//
// [Open] takes the ranks and the stretch of time that are wanted, [Trace.Ranks] reads the
// ranks, and [Rank.All] yields their calls, in nanoseconds since the run began:
//
//	trace, err := events.Open(ctx, t, events.Options{})
//	…
//	for rank, err := range trace.Ranks() {
//		…
//		for e, err := range rank.All() {
//			fmt.Println(e.Start, e.End, rank.Name(e.Terminal), rank.Args(e.Terminal))
//		}
//	}
//
// # Times
//
// A call has the time that was recorded, or the time that its statistics or histograms
// let expect. Where there are no times, a call takes one microsecond, and begins where
// the one before it ended: times are positions then. [Rank.TimesBy] tells which it is,
// and [Rank.TimesLabel] how exact times are that were recorded.
//
// Calls come in the order in which they returned. Those of one thread lie one after
// another, or one in another, as those that a callback makes do: what a clock that was
// set back says otherwise is cut off at the beginning of the later call.
//
// # Cost
//
// What is held is a rank at a time, in proportion to its signatures and its grammar,
// not to its calls.
package events
