package timing

// Select returns the histograms of the paths for which keep is true. They are
// shared with h, and must not be merged into.
func (h *Histograms[V]) Select(keep func(Path) bool) *Histograms[V] {
	selected := new(Histograms[V])
	for _, p := range h.all {
		if keep(p.path) {
			selected.all = append(selected.all, p)
		}
	}
	return selected
}
