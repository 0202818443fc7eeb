package layout

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
)

// OriginIdentifies reports whether o says nothing but which run it is, and how many ranks that has: a part file
// needs this, so that parts of two runs are told apart, and a trace does not.
func OriginIdentifies(o *format.Origin) bool {
	return o.Began.IsZero() && len(o.Jobs)+len(o.Commands)+len(o.Hosts)+len(o.Versions)+len(o.Assumptions)+
		len(o.Times)+len(o.Missing)+len(o.Polls)+o.Off.Len() == 0 && o.ClockError == 0
}

// NoOrigin reports whether o says nothing.
func NoOrigin(o *format.Origin) bool {
	return OriginIdentifies(o) && o.World == 0 && len(o.Runs) == 0
}

// What is added to the size of the world if assumptions follow, what is missing, ranks that were not
// recorded, polls that were left out, and what times are.
const (
	assumes = 1 << 31
	misses  = 1 << 32
	offs    = 1 << 33
	polls   = 1 << 34
	words   = 1 << 35 // command lines have words that are texts of the trace
	timings = 1 << 36
	drifts  = 1 << 37 // by how much clocks are off
)

// originLists returns the lists, in the order in which they are encoded.
func originLists(o *format.Origin) []*[]string {
	return []*[]string{&o.Runs, &o.Jobs, &o.Commands, &o.Hosts, &o.Versions, &o.Assumptions, &o.Times}
}

// MergeOrigin adds to o what p has, and sums up the polls of different ranks. Times that do not fit in 64 bits of
// nanoseconds are not known.
func MergeOrigin(o *format.Origin, p format.Origin) {
	theirs := originLists(&p)
	for i, list := range originLists(o) {
		*list = slices.Concat(*list, *theirs[i])
		slices.Sort(*list)
		*list = slices.DeleteFunc(slices.Compact(*list), func(s string) bool { return s == "" })
	}
	o.ClockError = max(o.ClockError, p.ClockError)
	if len(p.Missing) > 0 {
		o.Missing = slices.Concat(o.Missing, p.Missing)
		slices.SortFunc(o.Missing, compareMissing)
		o.Missing = slices.Compact(o.Missing)
	}
	if p.Off.Len() > 0 {
		o.Off = o.Off.Union(p.Off)
	}
	if len(p.Polls) > 0 {
		o.Polls = sumPolls(slices.Concat(o.Polls, p.Polls))
	}
	o.World = max(o.World, p.World)
	if t := p.Began; !t.IsZero() && t.Equal(time.Unix(0, t.UnixNano())) && (o.Began.IsZero() || t.Before(o.Began)) {
		o.Began = t.UTC().Round(0)
	}
}

func compareMissing(a, b format.Missing) int {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), a.Since.Compare(b.Since), cmp.Compare(a.Records, b.Records))
}

// sumPolls sorts a list and sums up the entries of a function and a site. What is known already of some ranks
// is not added again. Sums that do not fit are the largest number.
func sumPolls(list []format.Polls) []format.Polls {
	slices.SortStableFunc(list, func(a, b format.Polls) int {
		return cmp.Or(comparePolls(a, b), -cmp.Compare(a.Ranks.Len(), b.Ranks.Len()))
	})
	sums := list[:0]
	for _, p := range list {
		n := len(sums)
		switch {
		case p.Calls == 0 || p.Ranks.Len() == 0:
		case n == 0 || comparePolls(sums[n-1], p) != 0:
			sums = append(sums, p)
		case p.Ranks.Difference(sums[n-1].Ranks).Len() > 0:
			sums[n-1].Calls = wire.AddSat(sums[n-1].Calls, p.Calls)
			sums[n-1].Ranks = sums[n-1].Ranks.Union(p.Ranks)
		}
	}
	return sums
}

func comparePolls(a, b format.Polls) int {
	return cmp.Or(strings.Compare(a.Function, b.Function), strings.Compare(a.Site, b.Site))
}

// AppendOrigin appends the encoding of o, in a file with these texts.
func AppendOrigin(dst []byte, o *format.Origin, texts []string) []byte {
	packed := *o
	world, any := uint64(o.World), false
	if packed.Commands, any = packWords(o.Commands, texts); any {
		world += words
	}
	for _, list := range originLists(&packed)[:5] {
		dst = AppendTexts(dst, *list)
	}
	if len(o.Assumptions) > 0 {
		world += assumes
	}
	if len(o.Times) > 0 {
		world += timings
	}
	if o.ClockError > 0 {
		world += drifts
	}
	if len(o.Missing) > 0 {
		world += misses
	}
	if o.Off.Len() > 0 {
		world += offs
	}
	if len(o.Polls) > 0 {
		world += polls
	}
	dst = wire.AppendUvarint(dst, world)
	if len(o.Assumptions) > 0 {
		dst = AppendTexts(dst, o.Assumptions)
	}
	if len(o.Times) > 0 {
		dst = AppendTexts(dst, o.Times)
	}
	if o.ClockError > 0 {
		dst = wire.AppendUvarint(dst, uint64(o.ClockError))
	}
	if len(o.Missing) > 0 {
		dst = wire.AppendUvarint(dst, uint64(len(o.Missing)))
	}
	for _, m := range o.Missing {
		dst = wire.AppendVarint(wire.AppendUvarint(wire.AppendUvarint(dst, uint64(m.Rank)), m.Records),
			m.Since.UnixNano())
	}
	if o.Off.Len() > 0 {
		dst, _ = o.Off.AppendBinary(dst) // which has no errors
	}
	if len(o.Polls) > 0 {
		dst = wire.AppendUvarint(dst, uint64(len(o.Polls)))
	}
	for _, p := range o.Polls {
		dst = wire.AppendUvarint(wire.AppendString(wire.AppendString(dst, p.Function), p.Site), p.Calls)
		dst, _ = p.Ranks.AppendBinary(dst)
	}
	if o.Began.IsZero() {
		return dst
	}
	dst = wire.AppendVarint(dst, o.Began.Unix())
	if n := o.Began.Nanosecond(); n > 0 {
		dst = wire.AppendUvarint(dst, uint64(n))
	}
	return dst
}

// readAscending reads texts that ascend.
func readAscending(d *wire.Decoder, list *[]string) {
	at := d.Offset()
	n := d.Count("texts", 2)
	for i := 0; i < n && d.Err() == nil; i++ {
		*list = append(*list, string(d.String("text")))
	}
	checkAscending(d, at, *list)
}

// checkAscending checks that texts that begin at an offset ascend.
func checkAscending(d *wire.Decoder, at int, list []string) {
	for i, s := range list {
		if d.Err() == nil && (s == "" || i > 0 && s <= list[i-1]) {
			d.Corrupt(at, "text", "%q does not ascend", s)
		}
	}
}

// readWords replaces the numbers in the command lines of o, which begin at an offset, by texts of the file.
func readWords(d *wire.Decoder, at int, file *format.Reader, o *format.Origin) error {
	var texts []string
	err := ReadSection(file, KindTexts, 0, func(data []byte) (err error) {
		texts, err = ParseTexts(data)
		return err
	})
	if err != nil {
		return err
	}
	for i, line := range o.Commands {
		var ok bool
		if o.Commands[i], ok = unpackWords(line, texts); !ok {
			d.Corrupt(at, "text", "%q has a word that is none of %d texts", line, len(texts))
			return d.Err()
		}
	}
	checkAscending(d, at, o.Commands)
	return d.Err()
}

// readMissing reads what is missing into o.
func readMissing(d *wire.Decoder, o *format.Origin) {
	at := d.Offset()
	n := d.Count("missing", 3)
	if d.Err() == nil && n == 0 {
		d.Corrupt(at, "missing", "nothing is")
	}
	for i := 0; i < n && d.Err() == nil; i++ {
		at := d.Offset()
		rank := d.Uvarint("rank")
		if d.Err() == nil && rank >= MaxRanks {
			d.Corrupt(at, "rank", "%d", rank)
		}
		m := format.Missing{Rank: int(rank), Records: d.Uvarint("records"), Since: time.Unix(0, d.Varint("time")).UTC()}
		if d.Err() == nil && i > 0 && compareMissing(o.Missing[i-1], m) >= 0 {
			d.Corrupt(at, "missing", "rank %d does not ascend", m.Rank)
		}
		o.Missing = append(o.Missing, m)
	}
}

// readPolls reads into o polls that were left out.
func readPolls(d *wire.Decoder, o *format.Origin) {
	at := d.Offset()
	n := d.Count("polls", 4)
	if d.Err() == nil && n == 0 {
		d.Corrupt(at, "polls", "there are none")
	}
	for i := 0; i < n && d.Err() == nil; i++ {
		at := d.Offset()
		p := format.Polls{Function: string(d.String("function")), Site: string(d.String("site"))}
		p.Calls = d.Uvarint("calls")
		p.Ranks = DecodeRanks(d)
		if d.Err() == nil && (p.Calls == 0 || p.Ranks.Len() == 0 || i > 0 && comparePolls(o.Polls[i-1], p) >= 0) {
			d.Corrupt(at, "polls", "%d of %q do not ascend", p.Calls, p.Function)
		}
		o.Polls = append(o.Polls, p)
	}
}

// readTime reads when a run began: seconds, and nanoseconds if there are any. It is within 64 bits of these.
func readTime(d *wire.Decoder) time.Time {
	at := d.Offset()
	seconds, n := d.Varint("time"), uint64(0)
	if d.Err() == nil && d.Rest() > 0 {
		if n = d.UvarintMax("nanoseconds", 999_999_999); n == 0 {
			d.Corrupt(at, "time", "no nanoseconds")
		}
	}
	t := time.Unix(seconds, int64(n)).UTC()
	if d.Err() == nil && !t.Equal(time.Unix(0, t.UnixNano())) {
		d.Corrupt(at, "time", "%d s", seconds)
	}
	return t
}

// ReadOrigin reads the origin of a trace or a part file. An error is a [*format.SectionError].
func ReadOrigin(file *format.Reader) (o format.Origin, err error) {
	if _, ok := file.Lookup(KindOrigin, 0); !ok {
		return o, nil
	}
	err = ReadSection(file, KindOrigin, 0, func(data []byte) error {
		d := wire.NewDecoder("merge", data)
		readAscending(&d, &o.Runs)
		readAscending(&d, &o.Jobs)
		commands := d.Offset()
		for n := d.Count("texts", 2); len(o.Commands) < n && d.Err() == nil; {
			o.Commands = append(o.Commands, string(d.String("text")))
		}
		readAscending(&d, &o.Hosts)
		readAscending(&d, &o.Versions)
		at := d.Offset()
		world := d.Uvarint("world")
		if world >= 2*drifts {
			d.Corrupt(at, "world", "%d", world)
		}
		if d.Err() == nil && world&words != 0 {
			if err := readWords(&d, commands, file, &o); err != nil {
				return err
			}
		}
		checkAscending(&d, commands, o.Commands)
		o.World = int(world % assumes)
		if at = d.Offset(); world&assumes != 0 {
			if readAscending(&d, &o.Assumptions); d.Err() == nil && o.Assumptions == nil {
				d.Corrupt(at, "texts", "there are no assumptions")
			}
		}
		if at = d.Offset(); d.Err() == nil && world&timings != 0 {
			if readAscending(&d, &o.Times); d.Err() == nil && o.Times == nil {
				d.Corrupt(at, "texts", "times are none")
			}
		}
		if at = d.Offset(); d.Err() == nil && world&drifts != 0 {
			if n := d.Uvarint("clock error"); n == 0 || n > math.MaxInt64 {
				d.Corrupt(at, "clock error", "%d ns", n)
			} else {
				o.ClockError = int64(n)
			}
		}
		if d.Err() == nil && world&misses != 0 {
			readMissing(&d, &o)
		}
		if at = d.Offset(); d.Err() == nil && world&offs != 0 {
			if o.Off = DecodeRanks(&d); d.Err() == nil && o.Off.Len() == 0 {
				d.Corrupt(at, "ranks", "there are none")
			}
		}
		if d.Err() == nil && world&polls != 0 {
			readPolls(&d, &o)
		}
		if d.Err() == nil && d.Rest() > 0 {
			o.Began = readTime(&d)
		}
		d.End("time")
		if d.Err() == nil && NoOrigin(&o) {
			return Corrupt("the origin is empty")
		}
		return d.Err()
	})
	return o, err
}
