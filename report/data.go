package report

// A pageData is what the scripts of the page read, as JSON. Numbers above 2⁵³ lose
// digits in a browser.
type pageData struct {
	// Functions are those of most time or, without times, of most calls, the first of
	// which have colours of their own.
	Functions []functionData `json:"functions"`

	Timeline *timelineData `json:"timeline,omitempty"`
	Matrix   *matrixData   `json:"matrix,omitempty"`
	Sizes    []sizeData    `json:"sizes,omitempty"`
	Load     *loadData     `json:"load,omitempty"`

	Iterations *iterationData `json:"iterations,omitempty"`

	// Nodes are the ranks of each, as ranges: the first rank and the last of each. There are none if they are not
	// known, or if there is one.
	Nodes [][]int `json:"nodes,omitempty"`

	Other *pageData `json:"other,omitempty"` // functions and timeline of a reference
}

type functionData struct {
	Name  string   `json:"name"`
	Calls uint64   `json:"calls"`
	Time  *float64 `json:"time,omitempty"` // ns

	Outside bool `json:"outside,omitempty"` // the run: they begin or end it
}

// A timelineData is some ranks, by what is known of their times. Times are in nanoseconds
// from the start of the first call of all ranks.
type timelineData struct {
	Timed    bool          `json:"timed"`            // otherwise times are positions of calls
	Error    float64       `json:"error,omitempty"`  // of the times of every call, relative
	Run      []int64       `json:"run,omitempty"`    // when it begins and ends, if that is not all
	View     []int64       `json:"view,omitempty"`   // of the region that is shown at first: the same, or its calls
	Region   string        `json:"region,omitempty"` // what that is
	Texts    []string      `json:"texts"`
	Grammars [][][]int64   `json:"grammars"` // as grammar.js says
	Programs []programData `json:"programs"`
	Ranks    []rankData    `json:"ranks"`
	Bins     int           `json:"bins,omitempty"` // of rows that have them, from 0 to Span
	Span     int64         `json:"span,omitempty"`
	Served   bool          `json:"served,omitempty"` // times of calls are asked for
	Of       int           `json:"of,omitempty"`     // ranks that there are, if it is served
	Arrows   []byte        `json:"arrows,omitempty"` // messages, as packArrows returns them
	Worlds   []int         `json:"worlds,omitempty"` // the first rank of each, if there are several
	Kinds    []string      `json:"kinds,omitempty"`  // of waits
}

// A programData is a grammar with the functions of its calls, by terminal: numbers in pageData.Functions, or
// the number of these; and the signatures of the trace. If calls are of several threads, it has these. If
// times are estimates, it has the means of how long calls take, and of the gaps before them, in nanoseconds,
// and of how many calls these are.
type programData struct {
	Grammar    int       `json:"grammar"`
	Functions  []int     `json:"functions"`
	Signatures []int     `json:"signatures"`
	Threads    []int     `json:"threads,omitempty"`
	Durations  []float64 `json:"durations,omitempty"`
	Gaps       []float64 `json:"gaps,omitempty"`
	Of         []uint64  `json:"of,omitempty"`
}

// A rankData is a rank: its shape; its program, −1 if that is too large; its calls in words by
// terminal, as numbers of timelineData.Texts; and one of these: the times of every call,
// as packCalls returns them, and the waits of these; bins of its threads; or where the clock that estimates its
// times is put right: edge 2p is the start of call p, edge 2p+1 its end, and edges and
// times are differences to the ones before.
type rankData struct {
	Rank    int       `json:"rank"`
	Shape   int       `json:"shape"`
	Program int       `json:"program"`
	Texts   []int     `json:"texts,omitempty"`
	Calls   []byte    `json:"calls,omitempty"`
	Waits   []byte    `json:"waits,omitempty"`
	Rows    []rowData `json:"rows,omitempty"`
	Edges   []int64   `json:"edges,omitempty"`
	Times   []int64   `json:"times,omitempty"`
}

// A rowData is the bins of a thread, or of a rank with one, as binRow.packed returns them.
type rowData struct {
	Thread *int   `json:"thread,omitempty"`
	Bins   []byte `json:"bins"`
}

// A matrixData says how much goes from whom to whom, by bins of ranks: the first of bin b
// is ⌈b·Ranks/Bins⌉.
type matrixData struct {
	Ranks int  `json:"ranks"`
	Bins  int  `json:"bins"`
	Bytes bool `json:"bytes"` // the numbers of bytes are known

	Messages  bool `json:"messages"`  // there are some
	Exchanged bool `json:"exchanged"` // collective operations exchange data

	// Cells are the bin of the source, of the destination, bytes and messages, and if there
	// are some, bytes and blocks of collective operations, of each cell that has something,
	// row by row: of the source the difference to the one before, and the same of the
	// destination in the same row.
	Cells []uint64 `json:"cells"`

	// Uniform are bytes and blocks of collective operations that are not in Cells.
	Uniform []uniformData `json:"uniform,omitempty"`
}

// A uniformData is what each rank of From gives each other of To, or only those that are
// higher. Sets are ranges: the first rank and the last of each.
type uniformData struct {
	From   []int  `json:"from"`
	To     []int  `json:"to"`
	Higher bool   `json:"higher,omitempty"`
	Bytes  uint64 `json:"bytes"`
	Blocks uint64 `json:"blocks"`
}

// A sizeData is the messages of some sizes: of a class, or of the only size there is in it.
type sizeData struct {
	Low      uint64 `json:"low"`
	High     uint64 `json:"high"`
	Messages uint64 `json:"messages"`
	Bytes    uint64 `json:"bytes"`
}

// A loadData is the calls of ranks, or the time in them in nanoseconds: the mean of each
// bin, the first rank of which is ⌈b·Ranks/Bins⌉. Of times, it has those outside calls and of waits, a part of
// the time in calls, if they are known.
type loadData struct {
	Ranks  int       `json:"ranks"`
	Bins   int       `json:"bins"`
	Timed  bool      `json:"timed"`
	Values []float64 `json:"values"`

	Outside []float64 `json:"outside,omitempty"`
	Wait    []float64 `json:"wait,omitempty"`
}

// An iterationData is how long the rounds of the main loop take on average, in nanoseconds,
// by bars: the first of bar b is ⌊b·Rounds/Bars⌋. Of Rank, they begin at the call First, and
// are of so many Calls each.
type iterationData struct {
	Rounds  int       `json:"rounds"`
	Bars    int       `json:"bars"`
	Rank    int       `json:"rank"`
	First   uint64    `json:"first"`
	Calls   uint64    `json:"calls"`
	Whole   []float64 `json:"whole"`
	InCalls []float64 `json:"in_calls"`
	Wait    []float64 `json:"wait"`
}
