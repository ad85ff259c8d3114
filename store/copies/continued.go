package copies

// Continued reports whether a copy leads to the commits that this start has stored, and to those that
// follow: otherwise a new copy is needed.
func (r *Repository) Continued() bool {
	log, _ := r.db.Stream()
	if log == nil {
		return true
	}
	head := log.Head()
	r.ship.mu.Lock()
	defer r.ship.mu.Unlock()
	for _, c := range r.ship.copies {
		if c.Fault == nil && c.Manifest != nil && c.Manifest.Stream != nil && c.Manifest.Stream.Epoch == head.Epoch {
			if last, _ := reach(r.ship.parts, *c.Manifest.Stream); r.ship.epoch != head.Epoch || last >= r.ship.last {
				return true
			}
		}
	}
	return false
}

// Epoch returns the epoch of the commits; "" while the stream is off.
func (r *Repository) Epoch() string {
	log, _ := r.db.Stream()
	if log == nil {
		return ""
	}
	return log.Head().Epoch
}
