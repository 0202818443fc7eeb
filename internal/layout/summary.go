package layout

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
)

// Take removes from s what is of terminals that own has, and returns it over what
// these are there. It removes histograms in place: s must not share them with others.
func (s *Summaries) Take(own map[uint32]uint32) Summaries {
	var taken Summaries
	for i := range s {
		for n, t := range own {
			if int(n) >= len(s[i].Statistics) || s[i].Statistics[n].Count == 0 {
				continue
			}
			StatisticsOf(&taken[i], t).Merge(&s[i].Statistics[n])
			s[i].Statistics[n] = timing.Statistics{}
		}
		taken[i].Histograms = takeHistograms(&s[i], own)
	}
	return taken
}

// takeHistograms removes the histograms of paths that own has, and returns them over what the terminals are
// there: nil if there are none, as is s.Histograms if none are left.
func takeHistograms(s *timing.Summary, own map[uint32]uint32) *timing.Histograms {
	if s.Histograms == nil {
		return nil
	}
	rename := renaming(func(t uint32) uint32 { return own[t] })
	taken := s.Histograms.Take(func(p timing.Path) (timing.Path, bool) {
		_, ok := own[p.Terminal]
		if p.Previous != timing.NoPrevious && ok {
			_, ok = own[uint32(p.Previous)]
		}
		if !ok {
			return p, false
		}
		return rename(p)
	})
	if s.Histograms.Len() == 0 {
		s.Histograms = nil
	}
	if taken.Len() == 0 {
		return nil
	}
	return taken
}

// renaming returns what makes paths over other terminals of paths.
func renaming(terminal func(uint32) uint32) func(timing.Path) (timing.Path, bool) {
	return func(p timing.Path) (timing.Path, bool) {
		p.Terminal = terminal(p.Terminal)
		if p.Previous != timing.NoPrevious {
			p.Previous = int64(terminal(uint32(p.Previous)))
		}
		return p, true
	}
}

// Values returns the number of values in s that statistics have, or histograms.
func (s *Summaries) Values() uint64 {
	n := uint64(0)
	for i := range s {
		for t := range s[i].Statistics {
			n = wire.AddSat(n, s[i].Statistics[t].Count)
		}
		if s[i].Histograms == nil {
			continue
		}
		for _, h := range s[i].Histograms.All() {
			n = wire.AddSat(n, h.Statistics().Count)
		}
	}
	return n
}

// ParseSummaries decodes summaries over n terminals, as they are in a part file.
func ParseSummaries(data []byte, n int) (Summaries, error) {
	d := wire.NewDecoder("merge", data)
	has := decodeFlags(&d)
	var s Summaries
	for i := range s {
		if d.Err() == nil && has(i, flagStatistics) {
			s[i].Statistics = decodeStatistics(&d, n)
		}
		if d.Err() == nil && has(i, flagErrors) {
			decodeErrors(&s[i], &d)
		}
	}
	return s.decodeHistograms(&d, n, has)
}

// ParseRounded decodes summaries over n signatures of these functions, as they are
// in a trace.
func ParseRounded(data []byte, n int, function func(signature int) uint32) (Summaries, error) {
	d := wire.NewDecoder("merge", data)
	has := decodeFlags(&d)
	var s Summaries
	var columns []*timing.Summary
	for i := range s {
		if has(i, flagErrors) {
			d.Corrupt(0, "flags", "errors of sums in a trace")
		}
		if d.Err() == nil && has(i, flagStatistics) {
			columns = append(columns, &s[i])
		}
	}
	if len(columns) > 0 {
		enc := d.String("statistics")
		at := d.Offset() - len(enc)
		if d.Err() != nil {
			return Summaries{}, d.Err()
		}
		table, err := timing.ParseStatisticsTable(enc, n, function, len(columns))
		if err != nil {
			return Summaries{}, AtOffset(err, at)
		}
		for i, c := range columns {
			if c.Statistics = table[i]; len(c.Statistics) == 0 {
				d.Corrupt(at, "statistics", "none")
			}
		}
	}
	return s.decodeHistograms(&d, n, has)
}

// decodeFlags reads the flags of summaries, and returns whether durations, which
// are 0, and gaps, 1, have what a flag says.
func decodeFlags(d *wire.Decoder) (has func(i int, flag byte) bool) {
	flags := d.Byte("flags")
	if flags>>(2*summaryFlags+2) != 0 || d.Err() == nil && flags == 0 {
		d.Corrupt(0, "flags", "%#x", flags)
	}
	return func(i int, flag byte) bool {
		if flag == flagErrors {
			return flags&(flag<<i) != 0
		}
		return flags>>(i*summaryFlags)&flag != 0
	}
}

// decodeHistograms reads what comes after the statistics, and returns s with it.
func (s *Summaries) decodeHistograms(d *wire.Decoder, n int, has func(i int, flag byte) bool) (Summaries, error) {
	for i := range s {
		if d.Err() != nil || !has(i, flagHistograms) {
			continue
		}
		enc := d.String("histograms")
		at := d.Offset() - len(enc)
		if d.Err() != nil {
			break
		}
		h, err := timing.ParseHistograms(enc)
		if err != nil {
			return Summaries{}, AtOffset(err, at)
		}
		s[i].Histograms = h
		if err := checkPaths(&s[i], n); err != nil {
			d.Corrupt(at, "histograms", "%v", err)
		}
	}
	d.End("histograms")
	if d.Err() != nil {
		return Summaries{}, d.Err()
	}
	if s.Mixed() {
		return Summaries{}, Corrupt("histograms by call and by pair of calls")
	}
	return *s, nil
}

// decodeErrors reads the errors of the sums of statistics, some of which are not 0.
func decodeErrors(s *timing.Summary, d *wire.Decoder) {
	at, some := d.Offset(), false
	for t := range s.Statistics {
		if of := &s.Statistics[t]; of.Count > 0 {
			of.SetSumError(d.Uvarint("error"))
			some = some || of.SumError() > 0
		}
	}
	if d.Err() == nil && !some {
		d.Corrupt(at, "error", "none of %d statistics", len(s.Statistics))
	}
}

// appendErrors appends the errors of the sums.
func appendErrors(dst []byte, s *timing.Summary) []byte {
	for t := range s.Statistics {
		if of := &s.Statistics[t]; of.Count > 0 {
			dst = wire.AppendUvarint(dst, of.SumError())
		}
	}
	return dst
}

// decodeStatistics reads statistics of n terminals, up to the last that has any.
func decodeStatistics(d *wire.Decoder, n int) []timing.Statistics {
	at := d.Offset()
	if n > d.Rest() {
		d.Corrupt(at, "statistics", "of %d terminals in %d bytes", n, d.Rest())
		return nil
	}
	var list []timing.Statistics
	none := 0 // of the terminals before
	for range n {
		s := decodeOneStatistics(d)
		switch {
		case s == nil:
			return nil
		case s.Count == 0:
			none++
			continue
		}
		list = append(list, make([]timing.Statistics, none+1)...)
		list[len(list)-1], none = *s, 0
	}
	if len(list) == 0 {
		d.Corrupt(at, "statistics", "none")
	}
	return list
}

// decodeOneStatistics reads the statistics of a terminal. It returns nil if that
// fails.
func decodeOneStatistics(d *wire.Decoder) *timing.Statistics {
	ahead := *d
	data := ahead.Bytes("statistics", ahead.Rest())
	s, rest, err := timing.ReadStatistics(data)
	var e *timing.ParseError
	if errors.As(err, &e) {
		d.Fail(d.Offset()+int(e.Offset), e.Field, e.Err)
		return nil
	}
	d.Bytes("statistics", len(data)-len(rest))
	return s
}

// NoSummary reports whether s is empty.
func NoSummary(s *timing.Summary) bool { return len(s.Statistics) == 0 && s.Histograms == nil }

// StatisticsOf returns the statistics of a terminal, which may be new.
func StatisticsOf(s *timing.Summary, terminal uint32) *timing.Statistics {
	if n := int(terminal) + 1; n > len(s.Statistics) {
		s.Statistics = append(s.Statistics, make([]timing.Statistics, n-len(s.Statistics))...)
	}
	return &s.Statistics[terminal]
}

// reserve makes room for n terminals.
func reserve(s *timing.Summary, n int) {
	s.Statistics = slices.Grow(s.Statistics, max(0, n-len(s.Statistics)))
}

// mergeSummary adds what o has, which does not change.
func mergeSummary(s *timing.Summary, o *timing.Summary) {
	reserve(s, len(o.Statistics))
	for t := range o.Statistics {
		if of := &o.Statistics[t]; of.Count > 0 {
			StatisticsOf(s, uint32(t)).Merge(of)
		}
	}
	if o.Histograms == nil || o.Histograms.Len() == 0 {
		return
	}
	if s.Histograms == nil {
		s.Histograms = new(timing.Histograms)
	}
	if err := s.Histograms.Merge(o.Histograms); err != nil {
		panic(err) // an accumulator takes those of one kind
	}
}

// mergeSummaryAs is mergeSummary of o over other terminals, of which to says which they are: it takes time in proportion to
// o.
func mergeSummaryAs(s *timing.Summary, o *timing.Summary, to []uint32) {
	for t := range o.Statistics {
		if of := &o.Statistics[t]; of.Count > 0 {
			StatisticsOf(s, to[t]).Merge(of)
		}
	}
	if o.Histograms != nil && o.Histograms.Len() > 0 {
		mergeSummary(s, &timing.Summary{Histograms: o.Histograms.Rename(renaming(func(t uint32) uint32 {
			return to[t]
		}))})
	}
}

// renameSummary returns s over other terminals, of which to says which they are; those
// that become the same are merged.
func renameSummary(s *timing.Summary, to []uint32) timing.Summary {
	var renamed timing.Summary
	reserve(&renamed, len(s.Statistics))
	for t := range s.Statistics {
		if of := &s.Statistics[t]; of.Count > 0 {
			StatisticsOf(&renamed, to[t]).Merge(of)
		}
	}
	if s.Histograms != nil && s.Histograms.Len() > 0 {
		renamed.Histograms = s.Histograms.Rename(renaming(func(t uint32) uint32 { return to[t] }))
	}
	return renamed
}

// CheckSummary checks that s has no more values for a terminal than there are calls of it,
// which calls has for each. A rank has no gap before its first call, but ranks that
// were merged may have others first.
func CheckSummary(s *timing.Summary, calls []uint64) error {
	if n := len(calls); len(s.Statistics) > n {
		return fmt.Errorf("statistics of terminal %d of %d", len(s.Statistics)-1, n)
	}
	for t := range s.Statistics {
		if n := s.Statistics[t].Count; n > calls[t] {
			return fmt.Errorf("statistics of %d values of terminal %d, which has %d calls", n, t, calls[t])
		}
	}
	if s.Histograms == nil {
		return nil
	}
	if err := checkPaths(s, len(calls)); err != nil {
		return err
	}
	left := slices.Clone(calls)
	for p, h := range s.Histograms.All() {
		n := h.Statistics().Count
		if n > left[p.Terminal] {
			return fmt.Errorf("histograms of more values of terminal %d than its %d calls", p.Terminal,
				calls[p.Terminal])
		}
		left[p.Terminal] -= n
	}
	return nil
}

// checkPaths checks that the histograms are of the first n terminals.
func checkPaths(s *timing.Summary, n int) error {
	for p := range s.Histograms.All() {
		if int64(p.Terminal) >= int64(n) || p.Previous >= int64(n) {
			return fmt.Errorf("a histogram of terminals %d and %d of %d", p.Previous, p.Terminal, n)
		}
	}
	return nil
}

// Summaries are those of durations and of gaps.
type Summaries [2]timing.Summary

func (s *Summaries) IsZero() bool { return NoSummary(&s[0]) && NoSummary(&s[1]) }

func (s *Summaries) Merge(o *Summaries) {
	for i := range s {
		mergeSummary(&s[i], &o[i])
	}
}

// MergeAs is Merge of o over other terminals, of which to says which they are. It takes time in proportion to
// o.
func (s *Summaries) MergeAs(o *Summaries, to []uint32) {
	for i := range s {
		mergeSummaryAs(&s[i], &o[i], to)
	}
}

func (s *Summaries) Rename(to []uint32) Summaries {
	return Summaries{renameSummary(&s[0], to), renameSummary(&s[1], to)}
}

// Clone returns a copy that shares nothing with s.
func (s *Summaries) Clone() Summaries {
	var c Summaries
	c.Merge(s)
	return c
}

// A HistogramKind is what the histograms of all ranks are by.
type HistogramKind uint8

const (
	NoHistograms HistogramKind = iota
	ByCall
	ByPair // of a call and the one before it
)

// Kind returns what the histograms of s are by.
func (s *Summaries) Kind() HistogramKind {
	kind := NoHistograms
	for i := range s {
		switch h := s[i].Histograms; {
		case h == nil || h.Len() == 0:
		case h.PathSensitive():
			kind = max(kind, ByPair)
		default:
			kind = max(kind, ByCall)
		}
	}
	return kind
}

// Mixed reports whether s has histograms of both kinds.
func (s *Summaries) Mixed() bool {
	a, b := Summaries{s[0]}, Summaries{s[1]}
	return a.Kind() != NoHistograms && b.Kind() != NoHistograms && a.Kind() != b.Kind()
}

// Take takes note of the kind of histograms that are added, and returns an error if
// there are some of another kind.
func (k *HistogramKind) Take(other HistogramKind) error {
	if *k != NoHistograms && other != NoHistograms && *k != other {
		return errors.New("histograms by call and by pair of calls do not merge: all ranks must keep the same")
	}
	*k = max(*k, other)
	return nil
}

// Flags of summaries: what there is. Those of gaps are shifted by summaryFlags, and that of
// errors by one bit.
const (
	flagStatistics byte = 1 << iota
	flagHistograms
	flagErrors byte = 1 << 4 // of the sums of statistics, in a part file

	summaryFlags = 2 // bits; those of errors are further up
)

// flags says what there is, errors of sums too if these are written.
func (s *Summaries) flags(errors bool) byte {
	var flags byte
	for i := range s {
		f := byte(0)
		if len(s[i].Statistics) > 0 {
			f |= flagStatistics
		}
		if s[i].Histograms != nil {
			f |= flagHistograms
		}
		flags |= f << (i * summaryFlags)
		if errors && slices.ContainsFunc(s[i].Statistics, func(of timing.Statistics) bool {
			return of.SumError() > 0
		}) {
			flags |= flagErrors << i
		}
	}
	return flags
}

// Append appends the encoding of s, which is over n terminals, as it is in a part
// file.
func (s *Summaries) Append(dst []byte, n int) []byte {
	flags := s.flags(true)
	dst = append(dst, flags)
	for i := range s {
		if len(s[i].Statistics) == 0 {
			continue
		}
		var none timing.Statistics
		for t := range n {
			of := &none
			if t < len(s[i].Statistics) {
				of = &s[i].Statistics[t]
			}
			dst, _ = of.AppendBinary(dst)
		}
		if flags&(flagErrors<<i) != 0 {
			dst = appendErrors(dst, &s[i])
		}
	}
	return s.appendHistograms(dst)
}

// AppendRounded appends the encoding of s, which is over n signatures of these
// functions, as it is in a trace.
func (s *Summaries) AppendRounded(dst []byte, n int, function func(signature int) uint32) []byte {
	dst = append(dst, s.flags(false))
	var columns [][]timing.Statistics
	for i := range s {
		if len(s[i].Statistics) > 0 {
			columns = append(columns, s[i].Statistics)
		}
	}
	if len(columns) > 0 {
		table := timing.AppendStatisticsTable(nil, n, function, columns...)
		dst = wire.AppendUvarint(dst, uint64(len(table)))
		dst = append(dst, table...)
	}
	return s.appendHistograms(dst)
}

func (s *Summaries) appendHistograms(dst []byte) []byte {
	for i := range s {
		if h := s[i].Histograms; h != nil {
			enc, _ := h.AppendBinary(nil)
			dst = wire.AppendUvarint(dst, uint64(len(enc)))
			dst = append(dst, enc...)
		}
	}
	return dst
}

// HistogramBins is the number of bins that histograms have in a trace, at most. In
// a part file they have more, as what is merged of them must not depend on the
// order.
const HistogramBins = 16
