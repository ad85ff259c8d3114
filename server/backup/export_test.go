package backup

import "time"

// SetClock makes the service use another clock.
func (b *Service) SetClock(now func() time.Time) { b.now = now }

// SetStep makes workers read the clock more often.
func (b *Service) SetStep(step time.Duration) { b.step = step }

// Tell queues the notices to owners that are due.
func (b *Service) Tell() error { return b.tell() }

// Standing returns the notice that owners are to have got.
func (b *Service) Standing() (string, error) { return b.standing() }

// Pending returns the number of contents that the only target may lack.
func (b *Service) Pending() int { return b.all()[0].keeper.(*remoteKeeper).opened().Pending() }
