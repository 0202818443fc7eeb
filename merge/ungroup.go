package merge

import (
	"crypto/sha256"
	"slices"
)

// isGrouped reports whether s knows groups.
func (s *shape) isGrouped() bool {
	return slices.ContainsFunc(s.forms, func(f form) bool { return f.grouped })
}

// withoutGroups returns shapes as they are if nobody knows groups.
func (a *Accumulator) withoutGroups(shapes []*shape) []*shape {
	byKey := make(map[digest]*shape)
	for _, s := range shapes {
		s = s.withoutGroups()
		key, _ := s.grammar.AppendBinary(nil)
		for _, f := range s.forms {
			key = f.appendKey(key, a.digests)
		}
		if same := byKey[sha256.Sum256(key)]; same != nil {
			s = same.merge(s)
		}
		byKey[sha256.Sum256(key)] = s
	}
	var merged []*shape
	for _, s := range byKey {
		merged = append(merged, s)
	}
	sortShapes(merged)
	return merged
}

// withoutGroups returns s without what it knows of groups. It shares no columns with
// s.
func (s *shape) withoutGroups() *shape {
	begins := s.begins()
	u := &shape{grammar: s.grammar, ranks: slices.Clone(s.ranks), times: s.times.clone()}
	u.forms, u.columns, u.values = make([]form, 0, len(s.forms)), make([]column, 0, len(s.columns)), make([]int64, 0, len(s.values))
	for t, f := range s.forms {
		if f.grouped {
			f.grouped = false
			f.slots -= groupSlots
		}
		u.forms = append(u.forms, f)
		u.copyColumns(s, begins[t], begins[t]+f.slots)
	}
	return u
}
