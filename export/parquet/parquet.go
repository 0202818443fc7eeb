// Package parquet writes the calls of a trace as a Parquet file, for DuckDB, pandas,
// Polars, Spark and what else reads these: a row for each call, for each rank and signature,
// or for each message, with the columns of package rows.
//
// The file docs/exports.md says what is written.
//
// # Cost
//
// Columns are encoded in parallel, while the next row group is read. What a column
// holds is worked out once for each different call of a rank, and then a row costs
// some nanoseconds a column. Memory is that of a few row groups, whatever the number
// of calls, but for the footer, which takes some hundred bytes for each column and row group
// and about 50 for each page.
//
// # Source
//
// Apache Parquet, "File Format", version 2.12, https://parquet.apache.org/docs/. The
// encodings of levels, indices and differences, and the structures of the footer, are
// those of github.com/parquet-go/parquet-go. Its writer, which takes values row by row,
// is not used: a trace is dictionary-encoded already.
package parquet

import (
	"context"
	"io"
	"runtime"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/rows"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/trace"
)

// Write writes the table of a trace as a Parquet file. If ctx is cancelled, or there is an
// error, what was written is of no use.
func Write(ctx context.Context, w io.Writer, tr *trace.Trace, o export.TableOptions) error {
	need.That(tr != nil && w != nil, "export: no trace, or nothing to write to")
	t, err := rows.New(ctx, tr, o)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f, err := newFile(w, t)
	if err != nil {
		return err
	}
	defer f.zstd.Close()
	groups, wait := readGroups(ctx, t)
	defer wait()
	defer cancel()
	for g := range groups {
		if g.err != nil {
			return g.err
		}
		if err := f.group(ctx, g.Group); err != nil {
			return err
		}
		g.Release()
		if err := t.Done(uint64(f.rows)); err != nil {
			return err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return f.end()
}

// A groupOrError is what comes of reading rows.
type groupOrError struct {
	*rows.Group
	err error
}

// readGroups reads rows in a goroutine that ends when ctx is cancelled, which wait waits
// for.
func readGroups(ctx context.Context, t *rows.Table) (groups <-chan groupOrError, wait func()) {
	out, done := make(chan groupOrError), make(chan struct{})
	go func() {
		defer close(done)
		defer close(out)
		for g, err := range t.Groups(ctx) {
			select {
			case out <- groupOrError{g, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, func() { <-done }
}

// A file is a Parquet file that is being written.
type file struct {
	w       io.Writer
	offset  int64
	table   *rows.Table
	columns []*rows.Column
	zstd    *zstd.Encoder
	workers []*encoder

	rows    int64
	groups  []format.RowGroup
	indexes [2][][]byte // of the pages of each column of each group: of columns, and of offsets
}

const magic = "PAR1"

func newFile(w io.Writer, t *rows.Table) (*file, error) {
	workers := runtime.GOMAXPROCS(0)
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(workers))
	if err != nil {
		return nil, err
	}
	f := &file{w: w, table: t, columns: t.Columns(), zstd: z}
	for range min(workers, len(f.columns)) {
		f.workers = append(f.workers, &encoder{zstd: z})
	}
	return f, f.write([]byte(magic))
}

func (f *file) write(data []byte) error {
	n, err := f.w.Write(data)
	f.offset += int64(n)
	return err
}

// group writes a row group, of which the columns are encoded in parallel.
func (f *file) group(ctx context.Context, g *rows.Group) error {
	encoded := make([]chan *chunk, len(f.columns))
	for i := range encoded {
		encoded[i] = make(chan *chunk, 1)
	}
	next := make(chan int, len(f.columns))
	for i := range f.columns {
		next <- i
	}
	close(next)
	done := make(chan struct{}, len(f.workers))
	for _, e := range f.workers {
		go func() {
			for i := range next {
				var c *chunk
				if ctx.Err() == nil {
					c = e.chunk(g, f.columns[i])
				}
				encoded[i] <- c
			}
			done <- struct{}{}
		}()
	}
	err := f.chunks(ctx, g, encoded)
	for range f.workers {
		<-done
	}
	return err
}

// chunks writes the columns of a row group as they come.
func (f *file) chunks(ctx context.Context, g *rows.Group, encoded []chan *chunk) error {
	group := format.RowGroup{NumRows: int64(g.Len()), FileOffset: f.offset, Ordinal: int16(len(f.groups))}
	for i, c := range encoded {
		chunk := <-c
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if chunk.err != nil {
			return chunk.err
		}
		group.Columns = append(group.Columns, format.ColumnChunk{FileOffset: 0,
			MetaData: chunk.meta(f.columns[i], f.offset)})
		columns, offsets, err := chunk.indexes(f.columns[i].Type, f.offset+int64(len(chunk.dictionary)))
		if err != nil {
			return err
		}
		f.indexes[0], f.indexes[1] = append(f.indexes[0], columns), append(f.indexes[1], offsets)
		group.TotalByteSize += chunk.size
		group.TotalCompressedSize += chunk.compressed()
		for _, data := range [][]byte{chunk.dictionary, chunk.pages} {
			if err := f.write(data); err != nil {
				return err
			}
		}
	}
	if f.rows += group.NumRows; len(f.groups) > maxOrdinal {
		group.Ordinal = 0
	}
	f.groups = append(f.groups, group)
	return nil
}

// maxOrdinal is the largest number that a row group can have.
const maxOrdinal = 1<<15 - 1

// pageIndexes writes the indexes of pages: those of columns, and then those of offsets.
func (f *file) pageIndexes() error {
	for k, list := range f.indexes {
		for i, index := range list {
			c := &f.groups[i/len(f.columns)].Columns[i%len(f.columns)]
			switch {
			case index == nil:
				continue
			case k == 0:
				c.ColumnIndexOffset, c.ColumnIndexLength = f.offset, int32(len(index))
			default:
				c.OffsetIndexOffset, c.OffsetIndexLength = f.offset, int32(len(index))
			}
			if err := f.write(index); err != nil {
				return err
			}
		}
	}
	return nil
}

// end writes the indexes of pages, and the footer.
func (f *file) end() error {
	if err := f.pageIndexes(); err != nil {
		return err
	}
	meta := format.FileMetaData{
		Version: 2, Schema: f.schema(), NumRows: f.rows, RowGroups: f.groups, CreatedBy: createdBy(),
		KeyValueMetadata: f.metadata(),
	}
	for range f.columns {
		meta.ColumnOrders = append(meta.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		return err
	}
	n := len(footer)
	return f.write(append(footer, byte(n), byte(n>>8), byte(n>>16), byte(n>>24), magic[0], magic[1], magic[2],
		magic[3]))
}
