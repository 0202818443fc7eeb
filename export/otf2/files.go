package otf2

import (
	"strings"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A transfer is a read or a write of a file that goes on.
type transfer struct {
	handle *handle
	id     uint64
	bytes  int64 // that are written; semantics.Unknown of reads
}

// Modes in which MPI opens a file, which all implementations have in common.
const (
	modeCreate        = 1
	modeReadOnly      = 2
	modeWriteOnly     = 4
	modeDeleteOnClose = 16
	modeUniqueOpen    = 32
	modeExclusive     = 64
	modeAppend        = 128
	modeSequential    = 256
)

// collectiveOnFile adds a collective call that opens a file, closes it, or waits until all is written.
func (p *process) collectiveOnFile(n *entry, o *semantics.Operation, made string) {
	if made != "" {
		object := p.means.Object(n.Position, n.Terminal, n.call.makes)
		if object == nil {
			return
		}
		h := p.handle(object)
		if name := n.call.trace.text("filename"); name != "" && h.file == unknown32 {
			h.name, h.file = name, p.file(name)
		}
		h.created = true
		mode, creation, status := openMode(n)
		n.end = append(n.end, eventOf(kinds.fileOpened, h.id, mode, creation, status))
		return
	}
	if o.Communicator == nil {
		return
	}
	h := p.handle(o.Communicator)
	switch n.call.base {
	case "File_close":
		n.end = append(n.end, eventOf(kinds.fileClosed, h.id))
	case "File_sync":
		id := p.newID()
		n.begin = append(n.begin, eventOf(kinds.accessBegin, h.id, constants.flushes, constants.collectively, 0, id))
		n.end = append(n.end, eventOf(kinds.accessEnd, h.id, 0, id))
	}
}

// openMode returns the modes in which a call opens a file.
func openMode(n *entry) (mode, creation, status uint64) {
	modes, _ := n.call.trace.number("amode")
	switch {
	case modes&modeReadOnly != 0:
		mode = constants.readOnly
	case modes&modeWriteOnly != 0:
		mode = constants.writeOnly
	default:
		mode = constants.readWrite
	}
	for _, f := range []struct {
		of   int64
		to   *uint64
		flag uint64
	}{
		{modeCreate, &creation, constants.create}, {modeExclusive, &creation, constants.exclusively},
		{modeSequential, &creation, constants.noSeek}, {modeUniqueOpen, &creation, constants.unique},
		{modeAppend, &status, constants.appends}, {modeDeleteOnClose, &status, constants.deleteOnClose},
	} {
		if modes&f.of != 0 {
			*f.to |= f.flag
		}
	}
	return mode, creation, status
}

// accessFile adds a read or a write of a file.
func (p *process) accessFile(n *entry, o *semantics.Operation) {
	object := p.means.Object(n.Position, n.Terminal, n.call.role.On)
	if object == nil {
		return
	}
	h, r := p.handle(object), n.call.role
	if strings.HasSuffix(n.call.base, "_end") {
		if t, ok := p.split[h]; ok {
			delete(p.split, h)
			n.end = append(n.end, eventOf(kinds.accessEnd, h.id, p.size(max(t.bytes, o.Received)), t.id))
		}
		return
	}
	mode, flags, bytes := constants.writes, uint64(0), o.Sent
	if r.Reads {
		mode, bytes = constants.reads, o.Received
	}
	if r.Collective {
		flags |= constants.collectively
	}
	t := transfer{handle: h, id: p.newID(), bytes: bytes}
	asked := uint64(unknown)
	later := r.Nonblocking || r.Split
	if later {
		flags |= constants.nonblocking
	}
	if bytes >= 0 && !(later && r.Reads) {
		asked = uint64(bytes)
	}
	n.begin = append(n.begin, eventOf(kinds.accessBegin, h.id, mode, flags, asked, t.id))
	switch {
	case !later:
		n.end = append(n.end, eventOf(kinds.accessEnd, h.id, p.size(bytes), t.id))
		return
	case r.Reads:
		t.bytes = semantics.Unknown
	}
	n.end = append(n.end, eventOf(kinds.accessIssued, h.id, t.id))
	switch {
	case r.Split:
		p.split[h] = t
	case len(o.Begins) > 0:
		p.drop(o.Begins[0])
		p.pend(o.Begins[0], pending{id: t.id, file: &t})
	}
}

// completeTransfer adds that a transfer is complete, by the i-th request that a call completes. How much was read, the
// call tells.
func (p *process) completeTransfer(n *entry, t *transfer, o *semantics.Operation, i int) {
	bytes := t.bytes
	if bytes < 0 {
		if bytes = o.Received; len(o.Completes) > 1 {
			bytes = semantics.Unknown
			if list := n.call.trace.numbers(spec.SizeParam("array_of_requests")); i < len(list) &&
				len(list) == len(o.Completes) {
				bytes = list[i]
			}
		}
	}
	n.end = append(n.end, eventOf(kinds.accessEnd, t.handle.id, p.size(bytes), t.id))
}

// deleteFile adds that a call deletes a file.
func (p *process) deleteFile(n *entry) {
	if name := n.call.trace.text("filename"); name != "" {
		n.end = append(n.end, eventOf(kinds.fileDeleted, 0, p.file(name)))
	}
}
