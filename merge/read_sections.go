package merge

import (
	"sync"

	"github.com/reprise-trace/reprise/format"
)

// read gives the content of a section to parse. Its errors are SectionErrors.
func (t *Trace) read(kind format.Kind, key uint64, parse func([]byte) error) error {
	return readSection(t.file, kind, key, parse)
}

// itemOf returns the item at an offset in the content of a section. A section of
// more than maxPacked bytes has no other, so that it is not inflated for each of
// many.
func itemOf(content []byte, offset, size int) ([]byte, error) {
	if offset > len(content) || size > len(content)-offset || len(content) > maxPacked && size != len(content) {
		return nil, corrupt("%d bytes at %d of a section of %d", size, offset, len(content))
	}
	return content[offset : offset+size], nil
}

// A sectionCache holds the section of each kind that was read last, if it can
// hold more than one item.
type sectionCache struct {
	mu   sync.Mutex
	last map[format.Kind]content
}

// A content is that of a section, which does not change.
type content struct {
	key  uint64
	data []byte
}

// readShared is read for a section in which there may be several items. Of a
// small one it keeps the content for the next that is looked for.
func (t *Trace) readShared(kind format.Kind, key uint64, parse func([]byte) error) error {
	t.sections.mu.Lock()
	last := t.sections.last[kind]
	t.sections.mu.Unlock()
	if last.data != nil && last.key == key && parse(last.data) == nil {
		return nil
	}
	return t.read(kind, key, func(data []byte) error {
		if len(data) <= maxPacked {
			t.sections.mu.Lock()
			t.sections.last[kind] = content{key, data}
			t.sections.mu.Unlock()
		}
		return parse(data)
	})
}
