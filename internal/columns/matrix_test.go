package columns

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/allocated"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// table returns n rows of m elements, the element j of row i being f(i, j).
func table(n, m int, f func(i, j int) int64) [][]int64 {
	rows := make([][]int64, n)
	for i := range rows {
		for j := range m {
			rows[i] = append(rows[i], f(i, j))
		}
	}
	return rows
}

// prefixSums returns what the elements before each of rows add up to, times scale.
func prefixSums(rows [][]int64, scale int64) [][]int64 {
	out := make([][]int64, len(rows))
	for i, row := range rows {
		sum := int64(0)
		for _, v := range row {
			out[i] = append(out[i], sum)
			sum += scale * v
		}
	}
	return out
}

func transpose(rows [][]int64) [][]int64 {
	return table(len(rows), len(rows), func(i, j int) int64 { return rows[j][i] })
}

// TestMatrix encodes the arguments of an exchange one after the other, each with
// those before it to refer to.
func TestMatrix(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	irregular := table(16, 16, func(int, int) int64 { return rnd.Int64N(1000) })
	ragged := make([][]int64, 16)
	for i := range ragged {
		ragged[i] = irregular[i][:i%5]
	}
	tests := []struct {
		name   string
		rows   [][]int64
		form   string
		refers int // to the matrix of that number, or −1
		bytes  int
	}{
		{"Counts", table(16, 16, func(int, int) int64 { return 100 }), "equal rows", -1, 3},
		{"Displacements", table(16, 16, func(_, j int) int64 { return int64(100 * j) }), "sums of another", 0, 4},
		{"Irregular", irregular, "flat", -1, 0},
		{"IrregularDisplacements", prefixSums(irregular, 1), "sums of another", 2, 4},
		{"Received", transpose(irregular), "transposed", 2, 2},
		{"ReceivedDisplacements", prefixSums(transpose(irregular), 8), "sums of another", 4, 4},
		{"Again", irregular, "same rows as another", 2, 2},
		{"Changed", changeRows(irregular, 1, 3), "another with changes", 2, 7},
		{"ChangedReceived", transpose(changeRows(irregular, 1, 3)), "transposed", 7, 2},
		{"ChangedReceivedDisplacements", prefixSums(transpose(changeRows(irregular, 1, 3)), 8),
			"sums of another", 8, 4},
		{"ReceivedNearly", changeRows(transpose(irregular), 2, 2), "another with changes", 2, 8},
		{"Ragged", ragged, "flat", -1, 0},
		{"Neighbours", table(16, 3, func(i, j int) int64 {
			return []int64{int64(i ^ 1), 7, int64(i ^ 1)}[j]
		}), "columns", -1, 0},
		{"Partners", table(16, 4, func(i, _ int) int64 { return int64(i ^ 1) }), "one column", -1, 4},
		{"NoElements", make([][]int64, 16), "equal rows", -1, 3},
	}
	d := Over(rankenc.World(16), 16)
	var others []Matrix
	for _, tt := range tests {
		m := NewMatrix(d, tt.rows, others, Options{})
		enc := marshal(m)
		if MatrixForm(enc) != tt.form || tt.bytes != 0 && len(enc) != tt.bytes {
			t.Errorf("%s: %s in %d bytes, want %s in %d", tt.name, MatrixForm(enc), len(enc), tt.form, tt.bytes)
		}
		checkMatrix(t, d, tt.rows, others, m)
		if number, ok := ReferenceOf(enc, len(others)); ok != (tt.refers >= 0) || ok && number != tt.refers {
			t.Errorf("%s: encoded to refer to %d, %v", tt.name, number, ok)
		}
		number, ok := m.Reference()
		if ok != (tt.refers >= 0) || ok && number != tt.refers {
			t.Errorf("%s: refers to %d, %v", tt.name, number, ok)
		}
		others = append(others, m)
	}
}

// TestOldReferences reads matrices that refer to others as older files do, from every place in
// the list.
func TestOldReferences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	d := Over(rankenc.World(16), 16)
	var others []Matrix
	for n := range 2 * oldTogether {
		for i := n - n%oldTogether; i < n; i++ {
			for old, head := range []byte{headSame, headTransposed, headSums} {
				tail := ""
				if head == headSums {
					tail = "\x57\x06" // base 7, scale 3
				}
				enc := append([]byte{head}, string(byte(n-1-i))+tail...)
				want, err := ParseMatrix(enc, d, others)
				if err != nil {
					t.Fatal(err)
				}
				oldEnc := append([]byte{byte(old)}, string(byte(i%oldTogether))+tail...)
				got, err := ParseMatrix(oldEnc, d, others)
				if err != nil || !bytes.Equal(marshal(got), marshal(want)) {
					t.Fatalf("%x after %d matrices: %x, %v, want %x", oldEnc, n, marshal(got), err, enc)
				}
				if number, ok := ReferenceOf(oldEnc, n); !ok || number != i {
					t.Fatalf("%x after %d matrices refers to %d, %v", oldEnc, n, number, ok)
				}
				if got, want := MatrixForm(oldEnc), MatrixForm(enc); got != want {
					t.Fatalf("%x is of form %q, want %q", oldEnc, got, want)
				}
			}
		}
		others = append(others, NewMatrix(d, table(16, 16, func(int, int) int64 {
			return rnd.Int64N(1000)
		}), nil, Options{}))
	}
}

// checkMatrix checks m, and what is parsed of its encoding, against rows.
func checkMatrix(t rapid.TB, d Domain, rows [][]int64, others []Matrix, m Matrix) {
	t.Helper()
	enc, err := m.AppendBinary([]byte("prefix"))
	if err != nil || !bytes.HasPrefix(enc, []byte("prefix")) {
		t.Fatal(err)
	}
	enc = enc[len("prefix"):]
	parsed, err := ParseMatrix(enc, d, others)
	if err != nil {
		t.Fatalf("%v: %v", m, err)
	}
	if again := marshal(parsed); !bytes.Equal(again, enc) {
		t.Fatalf("%v: encoded again %x, want %x", m, again, enc)
	}
	for _, m := range []Matrix{m, parsed} {
		checkElements(t, d, rows, m)
		if m.len() != len(rows) {
			t.Fatalf("len = %d, want %d", m.len(), len(rows))
		}
		for i, row := range m.all() {
			if !slices.Equal(row, rows[i]) || m.RowLen(i) != len(row) {
				t.Fatalf("%v: row %d = %v, RowLen %d, want %v", m, i, row, m.RowLen(i), rows[i])
			}
			n := (i*i + len(rows)) % (len(row) + 2)
			if begin := m.AppendRowBegin([]int64{-9}, i, n); !slices.Equal(begin[1:],
				row[:min(n, len(row))]) || begin[0] != -9 {
				t.Fatalf("%v: the first %d of row %d are %v, want them of %v", m, n, i, begin, row)
			}
			if b, ok := m.body.(ownBody); ok {
				for j, v := range row {
					if b.at(i, j) != v {
						t.Fatalf("%v: at(%d, %d) = %d, want %d", m, i, j, b.at(i, j), v)
					}
				}
			}
		}
	}
}

// checkElements checks the columns of a square matrix.
func checkElements(t rapid.TB, d Domain, rows [][]int64, m Matrix) {
	b, ok := m.body.(ownBody)
	if !ok || !square(d, m) {
		return
	}
	for j := range rows {
		n := len(rows) - j*j%(len(rows)+1)
		column := b.appendColumn([]int64{-9}, j, n)
		for i, v := range column[1:] {
			if v != rows[i][j] || len(column) != n+1 || column[0] != -9 {
				t.Fatalf("%v: the first %d of column %d are %v", m, n, j, column)
			}
		}
	}
}

func testMatrix(t *rapid.T) {
	d := domainGen.Draw(t, "domain")
	if rapid.Bool().Draw(t, "whole") {
		n := rapid.OneOf(rapid.IntRange(1, 9), rapid.IntRange(16, 20)).Draw(t, "n")
		d = Over(rankenc.World(n), n)
	}
	n := d.len()
	m := rapid.OneOf(rapid.IntRange(0, 6), rapid.Just(min(n, 9))).Draw(t, "m")
	var others []Matrix
	var rows [][]int64
	for range rapid.IntRange(1, 5).Draw(t, "matrices") {
		switch rapid.IntRange(0, 7).Draw(t, "shape") {
		case 0:
			row := rapid.SliceOfN(rapid.Int64Range(-5, 100), m, m).Draw(t, "row")
			rows = table(n, m, func(_, j int) int64 { return row[j] })
		case 1:
			rows = make([][]int64, n)
			for range m {
				for i, v := range drawValues(t, d) {
					rows[i] = append(rows[i], v)
				}
			}
		case 2:
			rows = make([][]int64, n)
			for i := range rows {
				rows[i] = rapid.SliceOfN(rapid.Int64Range(0, 3), 0, m).Draw(t, "row")
			}
		case 3:
			rows = prefixSums(rows, rapid.Int64Range(-1, 8).Draw(t, "scale"))
		case 4:
			if n > 0 && len(rows) == n && !slices.ContainsFunc(rows, func(r []int64) bool { return len(r) != n }) {
				rows = transpose(rows)
			}
		case 5:
			rows = countRows(n, rapid.IntRange(0, 30).Draw(t, "columns"), rapid.Uint64().Draw(t, "seed"),
				rapid.Uint64Range(1, 1<<33).Draw(t, "most"))
		case 6:
			rows = changeRows(rows, rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 20).Draw(t, "changes"))
		}
		if len(rows) != n {
			rows = make([][]int64, n)
		}
		m := NewMatrix(d, rows, others, Options{})
		checkMatrix(t, d, rows, others, m)
		checkFirstSmallest(t, d, rows, others, m)
		for _, encode := range ownEncodings { // each, not only the smallest
			if b := encode(d, rows, Options{}, 1<<30); b != nil {
				checkMatrix(t, d, rows, others, Matrix{d, d.len(), b})
			}
		}
		for i := range others {
			if b := newChanged(d, rows, others, i); b != nil {
				checkMatrix(t, d, rows, others, Matrix{d, d.len(), b})
			}
		}
		others = append(others, m)
	}
	checkSources(t, others)
}

// checkFirstSmallest checks that m is the first of the smallest encodings, of all that refer to others and
// its own.
func checkFirstSmallest(t rapid.TB, d Domain, rows [][]int64, others []Matrix, m Matrix) {
	var want []byte
	least := math.MaxInt
	try := func(b matrixBody) {
		if b == nil {
			return
		}
		enc := b.append(nil)
		n := len(enc)
		if _, ok := b.(*counted); ok {
			n += n / 8
		}
		if n < least {
			want, least = enc, n
		}
	}
	for i := range others {
		for _, refer := range references {
			try(refer(d, rows, others, i))
		}
	}
	for _, encode := range ownEncodings {
		try(encode(d, rows, Options{}, least))
	}
	if got, _ := m.AppendBinary(nil); !bytes.Equal(got, want) {
		t.Fatalf("%x of %v, want %x", got, rows, want)
	}
}

// checkSources checks that rows of one source are equal.
func checkSources(t rapid.TB, all []Matrix) {
	rows := make(map[RowSource][]int64)
	for _, m := range all {
		for i, row := range m.all() {
			source := m.Source(i)
			if known, ok := rows[source]; ok && !slices.Equal(known, row) {
				t.Fatalf("%v and %v are of one source", known, row)
			}
			rows[source] = slices.Clone(row)
		}
	}
}

// TestSource checks that rows that did not change are of one source, and of which columns are.
func TestSource(t *testing.T) {
	const n = 16
	d := Over(rankenc.World(n), n)
	rows := countRows(n, n, 1, 9)
	after := slices.Clone(rows)
	after[3] = slices.Clone(rows[3])
	after[3][5]++
	before := NewMatrix(d, rows, nil, Options{})
	var all []Matrix
	for _, rows := range [][][]int64{after, transpose(after), prefixSums(after, 1),
		prefixSums(transpose(after), 1), rows} {
		all = append(all, NewMatrix(d, rows, append([]Matrix{before}, all...), Options{}))
	}
	received := NewMatrix(d, transpose(rows), []Matrix{before}, Options{})
	sums := NewMatrix(d, prefixSums(rows, 1), []Matrix{before}, Options{})
	for i := range n {
		if got := all[0].Source(i) == before.Source(i); got != (i != 3) {
			t.Errorf("row %d is of one source: %v", i, got)
		}
		if got := all[1].Source(i) == received.Source(i); got != (i != 5) {
			t.Errorf("column %d is of one source: %v", i, got)
		}
		if got := all[2].Source(i) == sums.Source(i); got != (i != 3) {
			t.Errorf("sums %d are of one source: %v", i, got)
		}
		if all[4].Source(i) != before.Source(i) {
			t.Errorf("row %d of the same is of another source", i)
		}
	}
	turned := transpose(rows)
	turned[3] = slices.Clone(turned[3])
	turned[3][5]++
	nearly := NewMatrix(d, turned, []Matrix{before}, Options{})
	for i := range n {
		if got := nearly.Source(i) == received.Source(i); got != (i != 3) {
			t.Errorf("row %d of the transpose is of one source: %v", i, got)
		}
	}
	checkSources(t, append(all, before, received, sums, nearly))
}

// TestCounted compares the size of numbers of things that are each put to one of many places
// at random with the information in that.
func TestCounted(t *testing.T) {
	const n = 300
	for _, tt := range []struct {
		name   string
		things int
		places int // in columns of all n, the first of which has few of them
	}{{"even", 200_000, 1}, {"uneven", 200_000, n}, {"many", 4_000_000, 1}, {"many uneven", 4_000_000, n}} {
		things := float64(tt.things)
		random := rand.New(rand.NewPCG(1, 2))
		rows := table(n, n, func(_, _ int) int64 { return 0 })
		share := make([]float64, n) // of a column
		for range tt.things {
			j := max(random.IntN(n), random.IntN(tt.places), random.IntN(tt.places), random.IntN(tt.places))
			share[j] += 1. / things
			rows[random.IntN(n)][j]++
		}
		bits := 0.0
		for _, row := range rows {
			for j, v := range row {
				lgamma, _ := math.Lgamma(float64(v) + 1)
				if mean := things * share[j] / n; mean > 0 {
					bits += (mean - float64(v)*math.Log(mean) + lgamma) / math.Ln2
				}
			}
		}
		enc := marshal(NewMatrix(Over(rankenc.World(n), n), rows, nil, Options{}))
		if got := float64(len(enc)); MatrixForm(enc) != "entropy coded" || got > 1.035*bits/8 {
			t.Errorf("%s: %s takes %v bytes, the information is %.0f", tt.name, MatrixForm(enc), got, bits/8)
		}
		narrow := bytes.Clone(enc)
		narrow[3]-- // the width
		if _, err := ParseMatrix(narrow, Over(rankenc.World(n), n), nil); !errors.Is(err, wire.ErrCorrupt) {
			t.Errorf("%s: with %d bits: %v", tt.name, narrow[3], err)
		}
	}
}

// TestIrregular checks that columns of which some are regular are found among many that are
// not, and that those of none are encoded without looking.
func TestIrregular(t *testing.T) {
	const n = 200
	random := rand.New(rand.NewPCG(1, 2))
	noise := table(n, n, func(_, _ int) int64 { return random.Int64N(1<<40) - 1<<39 })
	d := Over(rankenc.World(n), n)
	offsets := table(n, n, func(_, j int) int64 { return int64(j)<<40 + random.Int64N(16) })
	half := table(n, n, func(i, j int) int64 {
		if j < n/2 {
			return noise[i][j]
		}
		return int64(i + j)
	})
	for _, tt := range []struct {
		name string
		rows [][]int64
		most int
	}{{"noise", noise, 5*n*n + 20}, {"offsets", offsets, n*n/2 + 20*n}, {"half", half, 5*n*n/2 + 10*n},
		{"turned", transpose(half), 5*n*n/2 + 10*n}} {
		m := NewMatrix(d, tt.rows, nil, Options{})
		checkMatrix(t, d, tt.rows, nil, m)
		if enc := marshal(m); len(enc) > tt.most {
			t.Errorf("%s takes %d bytes as %s, want at most %d", tt.name, len(enc), MatrixForm(enc), tt.most)
		}
	}
}

// countRows returns n rows of m numbers, those of each column up to another one of at most
// most.
func countRows(n, m int, seed, most uint64) [][]int64 {
	random := rand.New(rand.NewPCG(seed, 0))
	of := make([]uint64, m)
	for j := range of {
		of[j] = 1 + random.Uint64N(most)>>random.IntN(40)
	}
	return table(n, m, func(_, j int) int64 { return int64(random.Uint64N(of[j])) })
}

// changeRows returns rows with so many elements changed.
func changeRows(rows [][]int64, seed uint64, changes int) [][]int64 {
	random := rand.New(rand.NewPCG(seed, 0))
	rows = slices.Clone(rows)
	for range min(changes, 100*len(rows)) {
		if i := random.IntN(len(rows)); len(rows[i]) > 0 {
			rows[i] = slices.Clone(rows[i])
			rows[i][random.IntN(len(rows[i]))] += random.Int64N(5) - 2
		}
	}
	return rows
}

func TestMatrixRoundTrip(t *testing.T) { rapid.Check(t, testMatrix) }

// TestMatrixRagged checks that rows are found where many lengths lie before them.
func TestMatrixRagged(t *testing.T) {
	const n = 1000
	rows := make([][]int64, n)
	for i := range rows {
		rows[i] = slices.Repeat([]int64{int64(i * i % 17)}, i%3+i%2)
	}
	d := Over(rankenc.World(n), n)
	checkMatrix(t, d, rows, nil, NewMatrix(d, rows, nil, Options{}))
}

func TestMatrixPanics(t *testing.T) {
	m := NewMatrix(Over(rankenc.World(2), 2), table(2, 3, func(i, j int) int64 { return int64(i * j) }), nil, Options{})
	for name, f := range map[string]func(){
		"row":    func() { m.AppendRow(nil, 2) },
		"length": func() { m.RowLen(-1) },
		"zero":   func() { Matrix{}.RowLen(0) },
		"rows":   func() { NewMatrix(Domain{}, make([][]int64, 1), nil, Options{}) },
		"values": func() { NewColumn(Domain{}, make([]int64, 1), Options{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	if m := (Matrix{}); m.len() != 0 || len(marshal(m)) != 3 {
		t.Error("zero Matrix is not empty")
	}
}

func TestParseMatrixErrors(t *testing.T) {
	d := Over(rankenc.World(64), 64)
	oblong := NewMatrix(d, table(64, 2, func(i, j int) int64 { return int64(i + j) }), nil, Options{})
	squareOne := NewMatrix(d, table(64, 64, func(i, j int) int64 { return int64(i * j % 7) }), nil, Options{})
	transposedOne, err := ParseMatrix([]byte("\x0a\x00"), d, []Matrix{oblong, squareOne})
	if err != nil {
		t.Fatal(err)
	}
	short := NewMatrix(Over(rankenc.World(3), 3), make([][]int64, 3), nil, Options{})
	others := []Matrix{oblong, squareOne, transposedOne, short, {}}
	tests := []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Empty", "", 0, io.ErrUnexpectedEOF},
		{"UnknownEncoding", "\x0c", 0, wire.ErrCorrupt},
		{"ChangedNoSuchMatrix", "\x07\x0a\x00", 1, wire.ErrCorrupt},
		{"ChangedOfZero", "\x07\x08\x00", 1, wire.ErrCorrupt},
		{"ChangedOfTransposed", "\x07\x04\x00", 1, wire.ErrCorrupt},
		{"ChangedTurnedOblong", "\x07\x01\x00", 1, wire.ErrCorrupt},
		{"ChangedBeyondEnd", "\x07\x00\x01\x80\x01\x02", 3, wire.ErrCorrupt},
		{"ChangedCutOff", "\x07\x00\x01\x03\x82", 4, io.ErrUnexpectedEOF},
		{"CountedNoElements", "\x08\x00\x01\x00", 1, wire.ErrCorrupt},
		{"CountedManyElements", "\x08\x80\x80\x80\x01\x01\x02\x01\x01", 1, wire.ErrCorrupt},
		{"CountedManyBits", "\x08\x01\x21\x02\x01\x01", 2, wire.ErrCorrupt},
		{"CountedCutOff", "\x08\x01\x01\x03\x01\x01", 3, wire.ErrCorrupt},
		{"CountedWidth", "\x08\x01\x01\x02\xff\xff", 1, wire.ErrCorrupt},
		{"CountedEnd", "\x08\x01\x00\x02\x00\x00", 1, wire.ErrCorrupt},
		{"NoSuchMatrix", "\x09\x05", 1, wire.ErrCorrupt},
		{"SameRows", "\x09\x01", 1, wire.ErrCorrupt},
		{"SameOfZero", "\x09\x00", 1, wire.ErrCorrupt},
		{"SameOfTransposed", "\x09\x02", 1, wire.ErrCorrupt},
		{"TransposedOblong", "\x0a\x04", 1, wire.ErrCorrupt},
		{"SumsCutOff", "\x0b\x04\x50", 3, io.ErrUnexpectedEOF},
		{"OldNoSuchMatrix", "\x00\x05", 1, wire.ErrCorrupt},
		{"OldSameRows", "\x00\x03", 1, wire.ErrCorrupt},
		{"OldTransposedOblong", "\x01\x00", 1, wire.ErrCorrupt},
		{"OldSumsCutOff", "\x02\x00\x50", 3, io.ErrUnexpectedEOF},
		{"LengthOfRow", "\x03\x80\x80\x80\x80\x08\x50", 1, wire.ErrCorrupt},
		{"NoColumns", "\x04\x00\x50", 1, wire.ErrCorrupt},
		{"ManyElements", "\x05\x81\x80\x80\x02\x50\x01\x50", 1, wire.ErrLimit},
		{"ColumnNumber", "\x05\x02\x53\x02\x50\x51", 2, wire.ErrCorrupt},
		{"NegativeLengths", "\x06\x4f\x50", 1, wire.ErrCorrupt},
		{"NegativeLength", "\x06\xdf\x50", 1, wire.ErrCorrupt}, // rank−1
		{"LongRows", "\x06\x04\x80\x80\x80\x80\x08\x00\x50", 1, wire.ErrLimit},
		{"Trailing", "\x03\x00\x50\x00", 3, wire.ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseMatrix([]byte(tt.data), d, others)
			checkError(t, err, tt.off, tt.want)
		})
	}
	large := Over(rankenc.World(rankenc.MaxRank), rankenc.MaxRank)
	_, err = ParseMatrix([]byte("\x06\xe0\x50"), large, nil)
	checkError(t, err, 1, wire.ErrLimit)
}

// TestParseMatrixDamaged checks that every prefix is rejected, and that whatever
// one-bit change is accepted can be read.
func TestParseMatrixDamaged(t *testing.T) {
	d := Over(rankenc.World(16), 16)
	for _, rows := range matrixSeeds() {
		enc := marshal(NewMatrix(d, rows, nil, Options{}))
		for n := range enc {
			if _, err := ParseMatrix(enc[:n], d, nil); err == nil {
				t.Errorf("accepted %d of %d bytes", n, len(enc))
			}
		}
		for bit := range len(enc) * 8 {
			bad := bytes.Clone(enc)
			bad[bit/8] ^= 1 << (bit % 8)
			if m, err := ParseMatrix(bad, d, nil); err == nil {
				readMatrix(t, m, bad)
			}
		}
	}
}

// matrixSeeds returns rows for 16 ranks that take several encodings.
func matrixSeeds() [][][]int64 {
	ragged := table(16, 3, func(i, j int) int64 { return int64(i * j % 5) })
	ragged[3], ragged[7] = nil, ragged[7][:1]
	return [][][]int64{
		ragged,
		countRows(16, 20, 1, 9),
		table(16, 16, func(_, j int) int64 { return int64(100 * j) }),
		table(16, 3, func(i, j int) int64 { return []int64{int64(i ^ 1), 7, int64(i ^ 1)}[j] }),
		table(16, 16, func(i, j int) int64 { return int64(i*j*j) % 13 }),
	}
}

// readMatrix reads the short ones of the first rows of m, which was parsed from
// data.
func readMatrix(t testing.TB, m Matrix, data []byte) {
	t.Helper()
	if again := marshal(m); !bytes.Equal(again, data) && (data[0] >= headEqualRows || again[0] != data[0]+headSame) {
		t.Fatalf("encoded again %x, want %x", again, data)
	}
	for i := range min(m.len(), 20) {
		n := m.RowLen(i)
		own, ok := m.body.(ownBody)
		if n > 1<<10 {
			if ok {
				own.at(i, 100)
			}
			continue
		}
		row := m.AppendRow(nil, i)
		if len(row) != n {
			t.Fatalf("row %d has %d elements, RowLen says %d", i, len(row), n)
		}
		for j := range min(n, 10) {
			if ok && own.at(i, j) != row[j] {
				t.Fatalf("at(%d, %d) = %d, want %d", i, j, own.at(i, j), row[j])
			}
		}
	}
}

// TestParseMatrixMemory checks that what ParseMatrix allocates follows from the
// bytes it was given.
func TestParseMatrixMemory(t *testing.T) {
	d := Over(rankenc.World(1<<20), 1<<20)
	for _, data := range []string{"\x03\xff\xff\xff\xff\x07\x50", "\x04\xff\xff\xff\xff\x07\x50",
		"\x05\x80\x80\x80\x01\x50\x01\x50", "\x05\x80\x80\x80\x01\x50\x80\x80\x01", "\x08\x01\x20\x02\x01\x01"} {
		if got := allocated.By(3, func() { ParseMatrix([]byte(data), d, nil) }); got > 8<<10 {
			t.Errorf("ParseMatrix of %x allocated %d bytes", data, got)
		}
	}
	// Rows of different lengths cost an eighth of a byte each.
	if got := allocated.By(3, func() { ParseMatrix([]byte("\x06\x06\x01\x00\x02\x00\x50"), d, nil) }); got > 256<<10 {
		t.Errorf("allocated %d bytes for %d rows", got, d.len())
	}
}
