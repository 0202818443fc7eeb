package cst

import "github.com/reprise-trace/reprise/internal/wire"

// A ParseError reports where and why [Parse], [ParseFunctions] or
// [ParseSignatures] rejected its input: the Offset of the first byte of the
// offending field, the Field as it is named in the package documentation, and
// the cause Err.
type ParseError = wire.Error

// Errors that a [ParseError] wraps, for use with [errors.Is]. Input that ends
// too soon wraps [io.ErrUnexpectedEOF] instead.
var (
	ErrCorrupt = wire.ErrCorrupt
	ErrLimit   = wire.ErrLimit
)

const packageName = "cst"

// Options configures [Parse] and [ParseSignatures]. The zero Options is the
// default configuration.
type Options struct {
	// MaxValues is the largest number of values to accept in one signature,
	// counting each array and each of its elements. A value takes 32 bytes of
	// memory when [Table.Signature] decodes it. Zero means 1<<24.
	MaxValues uint64
}

// Parse decodes a table that fills data. It does not retain data. What it
// returns is safe to use whoever wrote data: there is no Validate to call.
// An error from Parse is a [*ParseError].
func Parse(data []byte, o Options) (*Table, error) {
	d := wire.NewDecoder(packageName, data)
	if v := d.Byte("version"); v != version {
		d.Corrupt(0, "version", "version %d, want %d", v, version)
	}
	t := &Table{}
	t.readFunctions(&d)
	t.readSignatures(&d, o)
	for i := range t.entries {
		t.entries[i].count = d.Uvarint("count")
	}
	return t.end(&d, "count")
}

// ParseFunctions decodes what [Table.AppendFunctions] encoded, if that fills
// data, into a table without signatures, as [Parse] does.
func ParseFunctions(data []byte) (*Table, error) {
	d := wire.NewDecoder(packageName, data)
	t := &Table{}
	t.readFunctions(&d)
	return t.end(&d, "function")
}

// ParseSignatures decodes what [Table.AppendSignatures] encoded, if that fills
// data, as [Parse] does. The signatures are those of calls of the functions of
// the table functions, which the result shares; both tables may be added to
// independently. All counts are zero.
func ParseSignatures(functions *Table, data []byte, o Options) (*Table, error) {
	d := wire.NewDecoder(packageName, data)
	t := &Table{functions: functions.Functions()}
	t.readSignatures(&d, o)
	return t.end(&d, "signature")
}

func (t *Table) end(d *wire.Decoder, last string) (*Table, error) {
	if d.End(last); d.Err() != nil {
		return nil, d.Err()
	}
	return t, nil
}

// readSignatures reads the signatures, all with the count zero.
func (t *Table) readSignatures(d *wire.Decoder, o Options) {
	if o.MaxValues == 0 {
		o.MaxValues = 1 << 24
	}
	n := d.Count("signatures", 1)
	if uint64(n) > maxLen {
		d.Limit(d.Offset(), "signatures", "%d signatures", n)
		return
	}
	t.entries = make([]entry, 0, n)
	t.arena = make([]byte, 0, d.Rest())
	for range n {
		at := d.Offset()
		t.skipSignature(d, o.MaxValues)
		if d.Err() != nil {
			return
		}
		if terminal, known := t.intern(d.Since(at), 0); known {
			d.Corrupt(at, "signature", "equals signature %d", terminal)
			return
		}
	}
}

// skipSignature reads a signature and keeps nothing of it.
func (t *Table) skipSignature(d *wire.Decoder, maxValues uint64) {
	at := d.Offset()
	fn := d.Uvarint("function")
	if d.Err() != nil {
		return
	}
	if fn >= uint64(len(t.functions)) {
		d.Corrupt(at, "function", "function %d of %d", fn, len(t.functions))
		return
	}
	params := t.functions[fn].Params
	for i := range params {
		if skipValue(d, &params[i].Type, &maxValues); d.Err() != nil {
			return
		}
	}
}
