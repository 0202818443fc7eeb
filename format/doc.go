// Package format implements the container of a trace: a file of sections,
// each a run of bytes under a kind and a key, that is written front to back,
// read in any order, and walked when it is damaged. What a kind or a key means
// is the business of the caller.
//
// A [Writer] appends sections to an io.Writer. A [Reader] opens a file by
// reading its header and its index, then reads the sections it is asked for.
// [Salvage] needs neither footer nor index and finds what is intact.
//
// # Layout
//
// All integers are little-endian; a uvarint or varint takes its shortest form.
//
//	+--------+----------+-- … --+----------+-------+--------+
//	| header | record 0 |       | record n | index | footer |
//	+--------+----------+-- … --+----------+-------+--------+
//
//	header   magic     7 bytes  "\x8frpz\r\n\n"
//	         version   1 byte   1
//
//	record   marker    2 bytes  "\xf5\x9d"
//	         form      uvarint  kind<<3 | encoding
//	         key       uvarint
//	         stored    uvarint  number of stored bytes
//	         length    uvarint  of the content; absent if the encoding is none
//	         check     2 bytes  low half of the CRC-32C of what precedes it
//	         …                  the stored bytes
//	         crc       4 bytes  CRC-32C of what precedes it
//
//	alias    marker, form and key as in a record, with encoding 3
//	         back      uvarint  distance to the record that holds the content
//	         crc       4 bytes  CRC-32C of what precedes it
//
//	index    count     uvarint  number of records, then one column after another
//	         forms     uvarint  kind<<3 | encoding
//	         keys      varint   difference from the key before, modulo 2⁶⁴
//	         stored    uvarint  as in the record; of an alias, how many records
//	                            back the one is that holds the content
//	         lengths   uvarint  only of records that have one
//
//	footer   stored    4 bytes  length of the index as stored
//	         content   4 bytes  of the index; if larger, the index is zstd coded
//	         crc       4 bytes  CRC-32C of the index and the two lengths
//	         mark      4 bytes  "\x8fzpr"
//
// The index comes last because a Writer never seeks: it knows the lengths only
// when the sections are written. The footer has a fixed length, so that a
// Reader finds the index from the end of the file. Records touch each other,
// the first touches the header and the last the index; so the index holds no
// offsets, and sections that overlap cannot be written down.
//
// The magic is chosen as PNG chose its own: a transfer in text mode changes the
// byte above 127 or one of the line ends.
//
// Every checksum begins with the bytes of the header and the offset of what it
// covers, 8 bytes. A record is therefore valid only in its place and in its
// version of the format: a copy of it inside the content of another section, or
// in an old disk block, is not mistaken for a section. The check lets a walk
// trust the stored length before it reads that far. There is no second copy of
// crc in the index, since a record is compared with what the index says of it
// whenever it is read.
//
// # Encodings
//
//	0  zstd  the blocks of one frame: no magic number, no frame header, no
//	         checksum. The window is the smallest power of two, from 1 KiB to
//	         8 MiB, that holds the content; if none does, 8 MiB
//	1  none  the content
//	2  lz4   one block
//	3  alias the content is that of an earlier record, which is no alias
//
// Zstd and lz4 are used only where they are smaller than the content. The
// others, 4 to 7, are free: a section in an encoding that is not known is
// listed, and an error only when its content is asked for. A section of unknown
// kind is a section like any other. A file of a later version is refused with a
// [VersionError].
//
// The same sections, added in the same order, make the same bytes.
//
// # Limits
//
// Input is checked whoever wrote it. A Reader allocates in proportion to the
// bytes of the file, never to a number in it. [Options.MaxIndex] bounds the
// index and so the number of sections, [Options.MaxContent] what one section
// may expand to; on the way there memory grows with what was decoded, beyond
// 1 MiB and 64 times the stored bytes. A window takes at most 16 MiB more.
package format
