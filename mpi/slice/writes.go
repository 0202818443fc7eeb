package slice

import "slices"

// A write is bytes of an object that instructions write.
type write struct {
	addresses
	*writers
}

// Writers are instructions that write the same bytes.
type writers struct {
	by     []*instruction // but for some for which nothing more is needed
	data   bool           // of a message, or a status: what only an operation that is executed writes
	files  []*instruction // all of them, if some of the bytes may be those of files
	isFile bool           // some may
	read   int            // how many of files are needed as a process reads a file
	search int            // the last one that found it
}

type readKey struct {
	access
	by *instruction
}

// Written is what writes bytes that are read, in an object.
type written struct {
	*writers
	in *object
}

// noteWrite notes what an instruction writes.
func (s *slicer) noteWrite(w access, i *instruction) {
	group := s.written[w]
	if group == nil {
		group = &writers{data: w.data}
		s.written[w] = group
		for o, bytes := range s.memory.ranges(w.pts, w.size) {
			if o.isFixed {
				continue
			}
			o.writes = append(o.writes, write{bytes, group})
			group.isFile = group.isFile || o.isFile
		}
	}
	group.by = append(group.by, i)
	if group.isFile {
		group.files = append(group.files, i)
	}
}

// needReads notes that what an instruction reads is needed, and so whatever may have written it.
func (s *slicer) needReads(i *instruction, reads []access) {
	for _, r := range reads {
		if key := (readKey{r, i}); !s.read[key] {
			s.read[key] = true
			if s.trial != nil {
				s.trial.undo = append(s.trial.undo, func() { delete(s.read, key) })
			}
			for _, w := range s.writesBefore(r) {
				s.needWriters(w, r, i)
			}
		}
	}
}

// writesBefore returns all that writes bytes that are read.
func (s *slicer) writesBefore(r access) []written {
	r.data = false
	list, ok := s.before[r]
	if ok {
		return list
	}
	s.searches++
	console := s.memory.hidden["console"]
	for o, bytes := range s.memory.ranges(r.pts, r.size) {
		if o == console {
			continue
		}
		done := 0
		for _, w := range o.writes {
			if w.isDone() && !s.probing {
				done++
			} else if (w.search != s.searches || o.isFile) && w.overlap(bytes) {
				w.search = s.searches
				list = append(list, written{w.writers, o})
			}
		}
		if 2*done > len(o.writes) && !s.probing {
			o.writes = slices.DeleteFunc(o.writes, func(w write) bool { return w.isDone() })
		}
	}
	s.before[r] = list
	return list
}

// isDone reports whether nothing more is needed of writers, whoever reads what they write.
func (w *writers) isDone() bool { return len(w.by) == 0 && w.read == len(w.files) }

// needWriters notes that instructions are needed that write what another one reads.
func (s *slicer) needWriters(w written, r access, reader *instruction) {
	if w.in.isFile && s.trial != nil && w.read < len(w.files) {
		s.trial.costs = true
		return
	}
	if w.in.isFile { // which all processes share, so that nothing is written too late
		for ; w.read < len(w.files); w.read++ {
			i := w.files[w.read]
			if slices.ContainsFunc(i.effects, func(e *effect) bool { return e.outputs }) {
				s.executeAll(i, "what it writes is read, when messages say so")
			}
			if !s.isDone(i, w.data) {
				s.needWriter(w, r, i, reader)
			}
		}
		return
	}
	// when it is started
	later := slices.ContainsFunc(reader.effects, func(e *effect) bool { return e.role != nil && e.role.Persistent })
	done := 0
	for _, i := range w.by {
		if s.isDone(i, w.data) {
			done++
		} else if later || s.order.precedes(i, reader) {
			s.needWriter(w, r, i, reader)
		}
	}
	if 2*done > len(w.by) && !s.probing {
		// others go through the list
		w.by = slices.DeleteFunc(slices.Clone(w.by), func(i *instruction) bool { return s.isDone(i, w.data) })
	}
}

// needWriter notes that one of the instructions is needed, and what it writes of an access.
func (s *slicer) needWriter(w written, r access, i, reader *instruction) {
	s.need(i, reader, "writes what it reads in "+w.in.shown())
	if i.isCopy() {
		s.needCopied(i, r, w.in)
	}
	if w.data {
		for _, e := range i.effects {
			s.needData(e, i, reader)
		}
	}
}

// isDone reports whether nothing more is needed for an instruction if what it writes is.
func (s *slicer) isDone(i *instruction, data bool) bool {
	return i.kept && (i.copiesAll || !i.isCopy()) && (!data || !slices.ContainsFunc(i.effects, func(e *effect) bool {
		return e.group != "" && !s.got[i]
	}))
}
