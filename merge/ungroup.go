package merge

import (
	"crypto/sha256"
	"maps"
	"slices"
)

// isGrouped reports whether s knows groups.
func (s *shape) isGrouped() bool {
	return slices.ContainsFunc(s.forms, func(f form) bool { return f.grouped })
}

// withoutGroups returns shapes as they are if nobody knows groups.
func (a *Accumulator) withoutGroups(shapes []*shape) []*shape {
	byKey := make(map[digest]*shape)
	merged := make(map[digest]bool)
	for _, s := range shapes {
		s = s.withoutGroups()
		key, _ := s.grammar.AppendBinary(nil)
		for _, f := range s.forms {
			key = f.appendKey(key, a.digests)
		}
		sum := digest(sha256.Sum256(key))
		if same := byKey[sum]; same != nil {
			if !merged[sum] {
				same.cloneColumns()
				merged[sum] = true
			}
			s.cloneColumns()
			s = same.merge(s)
		}
		byKey[sum] = s
	}
	ungrouped := slices.Collect(maps.Values(byKey))
	sortShapes(ungrouped)
	return ungrouped
}

// cloneColumns makes columns of s that share no memory with those of other shapes.
func (s *shape) cloneColumns() {
	for i, c := range s.columns {
		s.columns[i] = slices.Clone(c)
	}
}

// withoutGroups returns s without what it knows of groups. Its columns share memory
// with those of s.
func (s *shape) withoutGroups() *shape {
	begins := s.begins()
	u := &shape{grammar: s.grammar, ranks: slices.Clone(s.ranks), times: s.times.Clone()}
	u.forms, u.columns, u.values = make([]form, 0, len(s.forms)), make([]column, 0, len(s.columns)), make([]int64, 0, len(s.values))
	for t, f := range s.forms {
		if f.grouped {
			f.grouped = false
			f.slots -= groupSlots
		}
		u.forms = append(u.forms, f)
		if end := begins[t] + f.slots; len(s.values) > 0 {
			u.values = append(u.values, s.values[begins[t]:end]...)
		} else {
			u.columns = append(u.columns, s.columns[begins[t]:end]...)
		}
	}
	return u
}
