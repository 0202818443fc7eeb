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
}

type functionData struct {
	Name  string   `json:"name"`
	Calls uint64   `json:"calls"`
	Time  *float64 `json:"time,omitempty"` // ns
}

// A timelineData has some ranks as grammars.
type timelineData struct {
	Timed    bool          `json:"timed"` // otherwise times are positions of calls
	Texts    []string      `json:"texts"`
	Grammars [][][]int64   `json:"grammars"` // as grammar.js says
	Programs []programData `json:"programs"`
	Ranks    []rankData    `json:"ranks"`
}

// A programData is a grammar with how long its calls take on average, in nanoseconds,
// by terminal. Functions are numbers in pageData.Functions, or the number of these. If
// calls are in others, terminals are of parts of calls: whole ones (0), first (1), last
// (2) or middle (3) parts of those that contain others, as Kinds says.
type programData struct {
	Grammar   int       `json:"grammar"`
	Functions []int     `json:"functions"`
	Durations []float64 `json:"durations,omitempty"`
	Gaps      []float64 `json:"gaps,omitempty"`
	Kinds     []int     `json:"kinds,omitempty"`
}

// A rankData is a rank, or a thread of one: its program, its calls in words by terminal, as numbers of
// timelineData.Texts, and where its clock is exact: edge 2p is the start of call p, or
// of part p, edge 2p+1 its end. Edges and times are differences to the ones before. Times are in
// nanoseconds from the start of the first call of all ranks.
type rankData struct {
	Rank    int     `json:"rank"`
	Thread  *int    `json:"thread,omitempty"`
	Program int     `json:"program"`
	Texts   []int   `json:"texts"`
	Edges   []int64 `json:"edges,omitempty"`
	Times   []int64 `json:"times,omitempty"`
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
	// row by row: of the source the difference to the one before, and likewise of the
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
// bin, the first rank of which is ⌈b·Ranks/Bins⌉.
type loadData struct {
	Ranks  int       `json:"ranks"`
	Bins   int       `json:"bins"`
	Timed  bool      `json:"timed"`
	Values []float64 `json:"values"`
}
