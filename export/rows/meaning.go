package rows

import "github.com/reprise-trace/reprise/semantics"

// meaningColumns returns those of what a call means to other processes.
func meaningColumns() []*Column {
	var columns []*Column
	add := func(name string, typ Type, cell func(o *semantics.Operation) Cell) {
		columns = append(columns, &Column{Name: name, Type: typ, Optional: true, cell: func(c *code) Cell {
			if c.operation == nil {
				return Cell{}
			}
			return cell(c.operation)
		}})
	}
	add("class", Text, func(o *semantics.Operation) Cell { return textCell(o.Class.String()) })
	for _, way := range []struct {
		peer, name string
		goes       func(semantics.Direction) bool
		collective func(*semantics.Operation) int64
	}{
		{"send_to", "send", isSend, func(o *semantics.Operation) int64 { return o.Sent }},
		{"recv_from", "recv", isReceive, func(o *semantics.Operation) int64 { return o.Received }},
	} {
		add(way.peer, Int, func(o *semantics.Operation) Cell {
			return common(o, way.goes, func(m *semantics.Message) int64 { return int64(m.Peer) })
		})
		add(way.name+"_tag", Int, func(o *semantics.Operation) Cell {
			if o.Class == semantics.OneSided {
				return Cell{}
			}
			return common(o, way.goes, func(m *semantics.Message) int64 { return m.Tag })
		})
		add(way.name+"_bytes", Int, func(o *semantics.Operation) Cell {
			if o.Class == semantics.Collective || o.Class == semantics.Access {
				return known(way.collective(o))
			}
			return bytes(o, way.goes)
		})
	}
	add("communicator", Text, func(o *semantics.Operation) Cell {
		if o.Communicator == nil {
			return Cell{}
		}
		return textCell(plain(o.Communicator.Name))
	})
	add("root", Int, func(o *semantics.Operation) Cell { return known(int64(o.Root)) })
	return columns
}

func isSend(d semantics.Direction) bool { return d != semantics.Receive && d != semantics.Get }

func isReceive(d semantics.Direction) bool {
	return d == semantics.Receive || d == semantics.Get || d == semantics.Fetch
}

// known returns a number of which negative ones say that it is not known.
func known(n int64) Cell { return Cell{Valid: n >= 0, Int: max(n, 0)} }

// common returns what all messages that go some way have in common.
func common(o *semantics.Operation, goes func(semantics.Direction) bool, of func(*semantics.Message) int64) Cell {
	var cell Cell
	for i := range o.Messages {
		m := &o.Messages[i]
		switch {
		case !goes(m.Direction):
		case !cell.Valid:
			if cell = known(of(m)); !cell.Valid {
				return Cell{}
			}
		case cell.Int != of(m):
			return Cell{}
		}
	}
	return cell
}

// bytes returns how many bytes go some way.
func bytes(o *semantics.Operation, goes func(semantics.Direction) bool) Cell {
	var cell Cell
	for i := range o.Messages {
		m := &o.Messages[i]
		if !goes(m.Direction) {
			continue
		}
		if m.Bytes < 0 || cell.Int+m.Bytes < 0 {
			return Cell{}
		}
		cell = intCell(cell.Int + m.Bytes)
	}
	return cell
}
