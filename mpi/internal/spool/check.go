package spool

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// The first word of a record has its size in words, the number, the type, the flags, and a check of the
// record and of where it is in the segment.
const (
	numberAt = 27
	typeAt   = 38
	flagsAt  = 42
	checkAt  = 46

	uncheckedMask = 1<<checkAt - 1 // of the first word without the check
)

// firstWord returns the first word of a record of so many words, without a check.
func firstWord(words, number, kind, flags int) uint64 {
	return uint64(words) | uint64(number)<<numberAt | uint64(kind)<<typeAt | uint64(flags)<<flagsAt
}

// SizeOf returns how many bytes a record has with such a first word.
func SizeOf(first uint64) int {
	switch {
	case typeOf(first) != recordAgain:
		return int(first&(1<<numberAt-1)) * 8
	case flagsOf(first)&flagFar != 0:
		return 16
	}
	return 8
}

func numberOf(first uint64) int   { return int(first >> numberAt & (1<<(typeAt-numberAt) - 1)) }
func typeOf(first uint64) int     { return int(first >> typeAt & (1<<(flagsAt-typeAt) - 1)) }
func flagsOf(first uint64) uint64 { return first >> flagsAt & (1<<(checkAt-flagsAt) - 1) }

// addWord adds a word to those of which there is a check, and mix mixes its bits, so that any that is another
// changes the upper ones.
func addWord(check, word uint64) uint64 { return bits.RotateLeft64(check, 13) ^ word }

func mix(check uint64) uint64 { return check * 0x9e3779b97f4a7c15 }

// contentOf returns the sum of a record without its check, and without its second word, which is its time.
func contentOf(record []byte) uint64 {
	content := binary.LittleEndian.Uint64(record) & uncheckedMask
	for data := record[min(16, len(record)):]; len(data) >= 8; data = data[8:] {
		content = addWord(content, binary.LittleEndian.Uint64(data))
	}
	return content
}

// slotOf returns the number of the slot of what has such a sum.
func slotOf(content uint64) int { return int(mix(content) >> (64 - slotBits)) }

// checkOf returns the check of a record, of which the sum is content, at an offset of its segment.
func checkOf(content uint64, record []byte, offset int64) uint64 {
	if len(record) >= 16 {
		content = addWord(content, binary.LittleEndian.Uint64(record[8:]))
	}
	return mix(addWord(content, uint64(offset))) >> checkAt
}

// ErrorOfRecord returns the error of a record that is not as it was written.
func ErrorOfRecord(offset int64) error {
	return parseError(offset, "record",
		fmt.Errorf("%w: the check is another, so that the file was changed or damaged", ErrCorrupt))
}

// An undoubled reads what a header says twice: a number and its complement. The first failure sticks.
type undoubled struct {
	data []byte
	err  error
}

func (u *undoubled) read(offset int, field string) uint32 {
	word := binary.LittleEndian.Uint64(u.data[offset:])
	if uint32(word) != ^uint32(word>>32) && u.err == nil {
		u.err = parseError(int64(offset), field, fmt.Errorf("%w: it contradicts its complement", ErrCorrupt))
	}
	return uint32(word)
}

// headerCheck returns the check of what does not change in a header.
func headerCheck(data []byte) uint64 {
	check := uint64(0)
	for at := offsetTable; at < offsetCheck; at += 8 {
		check = addWord(check, binary.LittleEndian.Uint64(data[at:]))
	}
	return mix(check)
}

// checkHeader returns an error if what does not change in a header is not as it was written.
func checkHeader(data []byte) error {
	if headerCheck(data) != binary.LittleEndian.Uint64(data[offsetCheck:]) {
		return parseError(offsetCheck, "check", fmt.Errorf("%w: it is not that of the header", ErrCorrupt))
	}
	return nil
}

// lengthOf returns a number of bytes of a file.
func lengthOf(word uint64) int64 { return int64(min(word, math.MaxInt64)) }
