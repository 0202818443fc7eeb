package format

import "fmt"

// AppendText appends a listing of r for people and for tests, one line for the
// file and one for each section, to dst and returns the extended slice. The
// error is always nil; it is there for [encoding.TextAppender].
func (r *Reader) AppendText(dst []byte) ([]byte, error) {
	dst = fmt.Appendf(dst, "container version=%d sections=%d size=%d\n", version, r.Len(), r.size)
	for _, s := range r.All() {
		dst = fmt.Appendf(dst, "section kind=%d key=%d offset=%d size=%d ", s.Kind, s.Key, s.Offset, s.Size)
		if s.Shared() {
			dst = fmt.Appendf(dst, "same=%d len=%d\n", s.Source, s.Len)
		} else {
			dst = fmt.Appendf(dst, "encoding=%v len=%d\n", s.Encoding, s.Len)
		}
	}
	return dst, nil
}
