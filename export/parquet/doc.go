// Package parquet writes the calls of a trace as a Parquet file, for DuckDB, pandas,
// Polars, Spark and what else reads these: a row for each call, or one for each rank
// and signature, with the columns of package rows.
//
// # File
//
// Columns are INT64, DOUBLE and BYTE_ARRAY with the logical type STRING, required
// unless values may be missing. Rows are in row groups of up to [rows.MaxRows], and
// columns in data pages of 65,536 rows. Most columns are encoded with a dictionary,
// for a call repeats; from the page on in which that becomes large, values are plain.
// Positions and times are encoded as differences, DELTA_BINARY_PACKED. Pages are
// compressed with Zstandard, levels and all, as version 1 has them. Columns of integers
// have their least and greatest value in the footer, by which readers leave out row
// groups. The footer says with what the file was made, and under the key reprise.rows
// what a row is: a call or a signature.
//
// The same table gives the same file, whatever the number of processors.
//
// # Cost
//
// Columns are encoded in parallel, while the next row group is read. What a column
// holds is worked out once for each different call of a rank, and then a row costs
// some nanoseconds a column. Memory is that of a few row groups, whatever the number
// of calls, but for the footer, which takes about 100 bytes for each column and row group.
//
// # Source
//
// Apache Parquet, "File Format", version 2.12, https://parquet.apache.org/docs/. The
// encodings of levels, indices and differences, and the structures of the footer, are
// those of github.com/parquet-go/parquet-go. Its writer, which takes values row by row,
// is not used: a trace is dictionary-encoded already.
package parquet
