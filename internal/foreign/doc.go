// Package foreign lets programs that are not ours read what the exports write, for
// tests: Perfetto's trace processor, DuckDB and SimGrid's smpirun. A test skips where they are
// not installed, and says how to install them.
package foreign
