package backup

import "time"

// SetClock makes the service use another clock.
func (b *Service) SetClock(now func() time.Time) { b.now = now }
