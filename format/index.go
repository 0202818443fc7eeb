package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/internal/compress"
	"github.com/reprise-trace/reprise/internal/wire"
)

const (
	footerMark = "\x8fzpr"
	footerLen  = int64(4 + 4 + wire.ChecksumLen + len(footerMark))

	// minIndexEntryLen is the number of bytes a section takes in an index that
	// is not compressed.
	minIndexEntryLen = 3

	// salvageable ends the messages about a file that [Salvage] may still read.
	salvageable = "the file is cut off or damaged, its sections can be salvaged"
)

// appendIndex appends the columns of the index.
func appendIndex(dst []byte, entries []entry) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(entries)))
	for i := range entries {
		dst = wire.AppendUvarint(dst, entries[i].formAndKind())
	}
	var previous uint64
	for i := range entries {
		dst = wire.AppendVarint(dst, int64(entries[i].key-previous))
		previous = entries[i].key
	}
	for i := range entries {
		stored := uint64(entries[i].stored)
		if entries[i].form == alias {
			stored = uint64(i - int(entries[i].first))
		}
		dst = wire.AppendUvarint(dst, stored)
	}
	for i := range entries {
		if entries[i].form.hasLength() {
			dst = wire.AppendUvarint(dst, uint64(entries[i].length))
		}
	}
	return dst
}

// parseIndex reads the columns of an index and returns as many entries as the
// records before offset end of the file can be. Their offsets are not set, nor
// what an alias takes from the record it refers to. Offsets of errors are those
// in data.
func parseIndex(data []byte, end int64) ([]entry, error) {
	d := wire.NewDecoder("format", data)
	n := d.Count("count", minIndexEntryLen)
	if int64(n) > (end-headerLen)/int64(minRecordLen) {
		d.Corrupt(0, "count", "%d records in %d bytes", n, end-headerLen)
	}
	if d.Err() != nil {
		return nil, d.Err()
	}
	entries := make([]entry, n)
	for i := range entries {
		form := d.UvarintMax("forms", math.MaxUint32<<encodingBits|(1<<encodingBits-1))
		entries[i].kind = Kind(form >> encodingBits)
		entries[i].form = Encoding(form & (1<<encodingBits - 1))
	}
	var key uint64
	for i := range entries {
		key += uint64(d.Varint("keys"))
		entries[i].key = key
	}
	for i := range entries {
		at := d.Offset()
		stored := int64(d.UvarintMax("stored", uint64(end)))
		entries[i].first = int32(i)
		if entries[i].form != alias {
			entries[i].stored, entries[i].length = stored, stored
			continue
		}
		if stored < 1 || stored > int64(i) {
			d.Corrupt(at, "stored", "alias of the record %d before record %d", stored, i)
			break
		}
		entries[i].first -= int32(stored)
	}
	for i := range entries {
		if entries[i].form.hasLength() {
			entries[i].length = int64(d.UvarintMax("lengths", math.MaxInt64))
		}
	}
	d.End("lengths")
	return entries, d.Err()
}

// placeEntries sets the offsets of entries and completes the aliases among
// them. The records must fill the file from the header to offset end.
func placeEntries(entries []entry, end int64) error {
	off := headerLen
	for i := range entries {
		e := &entries[i]
		e.offset = off
		if e.form == alias {
			first := &entries[e.first]
			if first.form == alias {
				return corrupt(end, "index", "record %d is an alias of an alias", i)
			}
			e.stored, e.length = off-first.offset, first.length
		}
		if !e.plausible() {
			return corrupt(end, "index", "record %d: %d bytes of %v for %d bytes", i, e.stored, e.form, e.length)
		}
		n := e.recordLen()
		if n > end-off {
			return corrupt(end, "index", "record %d ends after offset %d", i, end)
		}
		off += n
	}
	if off != end {
		return corrupt(off, "index", "%d bytes between the last record and the index", end-off)
	}
	return nil
}

// A footer locates the index.
type footer struct {
	offset  int64 // of the index
	stored  int64 // bytes of the index in the file
	content int64 // bytes of the index when decoded
	sum     uint32
}

// appendFooter appends to the stored index, which is the whole of dst and will
// be at offset off of the file, its footer.
func appendFooter(dst []byte, off int64, content int) []byte {
	stored := len(dst)
	dst = wire.AppendUint32(dst, uint32(stored))
	dst = wire.AppendUint32(dst, uint32(content))
	dst = wire.AppendUint32(dst, wire.UpdateChecksum(seed(off), dst))
	return append(dst, footerMark...)
}

// parseFooter reads the last footerLen bytes of a file of the given size.
func parseFooter(b []byte, size int64) (footer, error) {
	at := size - footerLen
	f := footer{
		stored:  int64(binary.LittleEndian.Uint32(b)),
		content: int64(binary.LittleEndian.Uint32(b[4:])),
		sum:     binary.LittleEndian.Uint32(b[8:]),
	}
	if mark := b[12:footerLen]; string(mark) != footerMark {
		return f, corrupt(at+12, "footer", "mark is %q: %s", mark, salvageable)
	}
	f.offset = at - f.stored
	if f.offset < headerLen || f.stored > f.content {
		return f, corrupt(at, "footer", "index of %d bytes, %d stored: %s", f.content, f.stored, salvageable)
	}
	return f, nil
}

// indexSum returns the checksum of an index and the lengths that follow it.
func (f footer) indexSum(index, lengths []byte) uint32 {
	return wire.UpdateChecksum(wire.UpdateChecksum(seed(f.offset), index), lengths)
}

// decodeIndex returns the entries of the stored index that buf[compress.Room:]
// holds, complete and in the order of their records. It overwrites buf.
func (f footer) decodeIndex(buf []byte) ([]entry, error) {
	index := buf[compress.Room:]
	if f.content > f.stored {
		var err error
		if index, err = compress.DecodeZstd(nil, buf, f.content); err != nil {
			return nil, reject(f.offset, "index", fmt.Errorf("%w: %s", err, salvageable))
		}
	}
	entries, err := parseIndex(index, f.offset)
	if err != nil {
		return nil, f.inFile(err)
	}
	if err := placeEntries(entries, f.offset); err != nil {
		return nil, err
	}
	return entries, nil
}

// inFile returns err with its offset in the index turned into one in the file.
// What a compressed index holds has no place of its own there.
func (f footer) inFile(err error) error {
	var pe *ParseError
	if !errors.As(err, &pe) {
		return err
	}
	if f.content > f.stored {
		return reject(f.offset, "index", fmt.Errorf("%s at offset %d when decoded: %w", pe.Field, pe.Offset, pe.Err))
	}
	return reject(f.offset+pe.Offset, pe.Field, pe.Err)
}
