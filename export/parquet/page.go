package parquet

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reprise-trace/reprise/export/internal/rows"
)

// A page is what a data page holds, before it is encoded.
type page struct {
	levels   []byte // definition levels of rows, 1 if there is a value, or of the values of lists
	repeated []byte // repetition levels of lists: 1 if a value is not the first of its row
	n        int    // values
	first    int    // row of the group
	bounds   bounds // of the values
	values   []int32
	ints     []int64
	plain    []byte

	content, part, body []byte // encoded
}

// begin empties p, and makes room for so many rows.
func (p *page) begin(rows int) {
	p.levels, p.plain, p.n = slices.Grow(p.levels[:0], rows), p.plain[:0], 0
	if len(p.values) < rows {
		p.values = make([]int32, rows)
	}
}

// indexPage encodes indices in the dictionary.
func (c *chunk) indexPage(e *encoder, rows int) {
	width := max(1, bits.Len(uint(max(e.dictionary.n, 1)-1)))
	e.begunContent(c)
	e.content = append(e.content, byte(width))
	e.part, c.err = (&rle.Encoding{BitWidth: width}).EncodeInt32(e.part, e.values[:e.n])
	e.content = append(e.content, e.part...)
	c.dataPage(e, rows, format.RLEDictionary)
}

// differencePage encodes the differences of integers.
func (c *chunk) differencePage(e *encoder, rows int) {
	e.begunContent(c)
	e.part, c.err = new(delta.BinaryPackedEncoding).EncodeInt64(e.part, e.ints)
	e.content = append(e.content, e.part...)
	c.dataPage(e, rows, format.DeltaBinaryPacked)
}

// plainPage encodes values as they are.
func (c *chunk) plainPage(e *encoder, rows int) {
	e.begunContent(c)
	e.content = append(e.content, e.plain...)
	c.dataPage(e, rows, format.Plain)
}

// begunContent begins the content of a page with the levels.
func (e *encoder) begunContent(c *chunk) {
	e.content = e.content[:0]
	if e.column.Type == rows.List {
		e.appendLevels(c, 1, e.repeated)
		e.appendLevels(c, 2, e.levels)
	} else if e.column.Optional {
		e.appendLevels(c, 1, e.levels)
	}
}

// appendLevels appends levels of some bits to the content of a page.
func (e *encoder) appendLevels(c *chunk, bits int, levels []byte) {
	if c.err != nil {
		return
	}
	if e.part, c.err = (&rle.Encoding{BitWidth: bits}).EncodeLevels(e.part, levels); c.err != nil {
		return
	}
	e.content = binary.LittleEndian.AppendUint32(e.content, uint32(len(e.part)))
	e.content = append(e.content, e.part...)
}

// dataPage adds a data page with the content: that of so many rows or, of lists, of values
// and of rows without one.
func (c *chunk) dataPage(e *encoder, rows int, encoding format.Encoding) {
	if c.err != nil {
		return
	}
	c.uses(encoding)
	nulls := int64(rows - e.n)
	c.values += int64(rows)
	c.nulls += nulls
	c.bounds.merge(e.column.Type, &e.bounds)
	at := len(c.pages)
	c.pages = c.page(c.pages, e, format.PageHeader{Type: format.DataPage,
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: int32(rows), Encoding: encoding, DefinitionLevelEncoding: format.RLE,
			RepetitionLevelEncoding: format.RLE,
			Statistics:              format.Statistics{NullCount: nulls},
		})})
	c.placed = append(c.placed, placed{int64(at), int32(len(c.pages) - at), int64(e.first), int64(rows),
		nulls, e.bounds})
}

// dictionaryPage makes the page of the dictionary.
func (e *encoder) dictionaryPage() {
	c := e.out
	c.uses(format.Plain)
	e.content = append(e.content[:0], e.dictionary.plain...)
	c.dictionary = c.page(nil, e, format.PageHeader{Type: format.DictionaryPage,
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{
			NumValues: int32(e.dictionary.n), Encoding: format.Plain,
		})})
}

// page appends a page with the content.
func (c *chunk) page(dst []byte, e *encoder, h format.PageHeader) []byte {
	e.body = e.zstd.EncodeAll(e.content, e.body[:0])
	h.UncompressedPageSize, h.CompressedPageSize = int32(len(e.content)), int32(len(e.body))
	header, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
	if err != nil {
		c.err = err
		return dst
	}
	c.size += int64(len(header) + len(e.content))
	return append(append(dst, header...), e.body...)
}

// schema returns the schema: the root, and a leaf for each column.
func (f *file) schema() []format.SchemaElement {
	elements := []format.SchemaElement{{Name: "reprise", NumChildren: thrift.New(int32(len(f.columns)))}}
	for _, c := range f.columns {
		e := format.SchemaElement{Name: c.Name, Type: thrift.New(typeOf(c)),
			RepetitionType: thrift.New(format.Required)}
		if c.Optional {
			e.RepetitionType = thrift.New(format.Optional)
		}
		switch c.Type {
		case rows.Text:
			e.ConvertedType = thrift.New(deprecated.UTF8)
			e.LogicalType = format.LogicalType{Value: &format.StringType{}}
		case rows.Time:
			e.LogicalType = format.LogicalType{Value: &format.TimestampType{IsAdjustedToUTC: true,
				Unit: format.TimeUnit{Value: &format.NanoSeconds{}}}}
		case rows.List:
			elements = append(elements, listOf(e)...)
			continue
		}
		elements = append(elements, e)
	}
	return elements
}

// listOf returns the elements of a column of lists of what e is.
func listOf(e format.SchemaElement) []format.SchemaElement {
	list := format.SchemaElement{
		Name: e.Name, RepetitionType: e.RepetitionType, NumChildren: thrift.New(int32(1)),
		ConvertedType: thrift.New(deprecated.List), LogicalType: format.LogicalType{Value: &format.ListType{}},
	}
	repeated := format.SchemaElement{Name: listPath[0], RepetitionType: thrift.New(format.Repeated),
		NumChildren: thrift.New(int32(1))}
	e.Name, e.RepetitionType = listPath[1], thrift.New(format.Required)
	return []format.SchemaElement{list, repeated, e}
}

// listPath is where the elements of a list are below it.
var listPath = []string{"list", "element"}

// typeOf returns the physical type of a column.
func typeOf(c *rows.Column) format.Type {
	switch c.Type {
	case rows.Int, rows.Time, rows.List:
		return format.Int64
	case rows.Float:
		return format.Double
	}
	return format.ByteArray
}

// A chunk is an encoded column of a row group.
type chunk struct {
	dictionary []byte // its page, nil if there is none
	pages      []byte

	encodings     []format.Encoding
	values, nulls int64
	size          int64 // of the pages before they are compressed, and their headers
	bounds        bounds
	placed        []placed // pages
	err           error
}

// compressed returns the number of bytes in the file.
func (c *chunk) compressed() int64 { return int64(len(c.dictionary) + len(c.pages)) }

// uses takes note of an encoding.
func (c *chunk) uses(e format.Encoding) {
	if !slices.Contains(c.encodings, e) {
		c.encodings = append(c.encodings, e)
	}
}

// meta describes the chunk, which begins at an offset in the file.
func (c *chunk) meta(column *rows.Column, offset int64) format.ColumnMetaData {
	m := format.ColumnMetaData{
		Type: typeOf(column), Encoding: c.encodings, PathInSchema: []string{column.Name}, Codec: format.Zstd,
		NumValues: c.values, TotalUncompressedSize: c.size, TotalCompressedSize: c.compressed(),
		DataPageOffset: offset + int64(len(c.dictionary)),
		Statistics:     format.Statistics{NullCount: c.nulls},
	}
	if column.Type == rows.List {
		m.PathInSchema = append(m.PathInSchema, listPath...)
	}
	if c.dictionary != nil {
		m.DictionaryPageOffset = offset
	}
	m.Statistics.MinValue, m.Statistics.MaxValue = c.bounds.encode(column.Type)
	return m
}
