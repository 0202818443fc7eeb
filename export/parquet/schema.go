package parquet

import (
	"encoding/binary"
	"slices"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reprise-trace/reprise/export/rows"
)

// schema returns the schema: the root, and a leaf for each column.
func (f *file) schema() []format.SchemaElement {
	elements := []format.SchemaElement{{Name: "reprise", NumChildren: thrift.New(int32(len(f.columns)))}}
	for _, c := range f.columns {
		e := format.SchemaElement{Name: c.Name, Type: thrift.New(typeOf(c)), RepetitionType: thrift.New(format.Required)}
		if c.Optional {
			e.RepetitionType = thrift.New(format.Optional)
		}
		if c.Type == rows.Text {
			e.ConvertedType = thrift.New(deprecated.UTF8)
			e.LogicalType = format.LogicalType{Value: &format.StringType{}}
		}
		elements = append(elements, e)
	}
	return elements
}

// typeOf returns the physical type of a column.
func typeOf(c *rows.Column) format.Type {
	switch c.Type {
	case rows.Int:
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
	least, most   int64 // of integers
	any           bool  // whether there are least and most
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
	if c.dictionary != nil {
		m.DictionaryPageOffset = offset
	}
	if c.any {
		m.Statistics.MinValue = binary.LittleEndian.AppendUint64(nil, uint64(c.least))
		m.Statistics.MaxValue = binary.LittleEndian.AppendUint64(nil, uint64(c.most))
	}
	return m
}
