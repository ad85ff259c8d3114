package backup

import (
	"cmp"
	"time"

	"reeve/server/web"
	"reeve/store/errs"
)

// Health reports whether each target has a copy that was proven recently. A command can't be read
// back: for it, that the copy was made is enough.
func (b *Service) Health() web.Part {
	p := web.Part{Name: "backup", State: web.Healthy, Message: errs.Say("copies are made and proven"), Figures: map[string]int64{}}
	workers := b.all()
	if len(workers) > 0 && !b.s.OnDuty() {
		p.Message = errs.Say("the node with the duties makes the copies, and knows how they are")
		return p
	}
	if len(workers) == 0 {
		p.State, p.Message = web.Degraded, errs.Say("no copies are made: name a target as [backup.NAME] in the configuration")
		return p
	}

	r, err := b.readRule()
	if err != nil {
		return b.s.UnknownPart("backup", err)
	}

	p.Figures["targets"] = int64(len(workers))
	for _, w := range workers {
		state, message := w.health(r)
		if worse(state, p.State) || p.State == web.Healthy && w.good().IsZero() {
			p.State, p.Message = state, message
		}
	}
	return p
}

func worse(a, b string) bool {
	order := map[string]int{web.Healthy: 0, web.Checking: 1, web.Degraded: 2, web.Failed: 3}
	return order[a] > order[b]
}

// unstored is how long commits may fail to be stored, or be on their way, before the health is degraded.
const unstored = 10 * time.Minute

func (w *worker) health(r rule) (state string, message errs.Message) {
	w.mu.Lock()
	good := newestGood(w.copies, r.now)
	fault, failures, listed := w.now.fault, w.now.failures, w.listed
	w.mu.Unlock()
	name := w.target.Name
	commits, _, _ := w.commits()
	ahead, newest := w.ahead(r.now)
	losses := w.losses()
	switch {
	case newest && fault == nil:
		return web.Degraded, saysAhead(name, ahead)
	case good.IsZero() && r.now.Sub(r.installed) < r.limit && fault == nil:
		return web.Healthy, errs.Say("there is no copy at %s yet", name)
	case good.IsZero() && !listed && fault == nil:
		return web.Checking, errs.Say("the copies at %s are being listed", name)
	case fault != nil && (good.IsZero() || failures > 1 || !listed):
		return web.Degraded, errs.Say("copies to %s fail: %s", name, text(fault))
	case good.IsZero():
		return web.Degraded, errs.Say("there is no proven copy at %s", name)
	case r.now.Sub(good) > r.limit:
		return web.Degraded, errs.Say("the last proven copy at %s is of %s", name, good.UTC().Format(time.RFC3339))
	case len(losses) > 0:
		return web.Degraded, losses[0]
	case commits.fault != nil && r.now.Sub(commits.since) > unstored:
		return web.Degraded, errs.Say("commits are not stored at %s: %s", name, text(commits.fault))
	case !commits.begun.IsZero() && r.now.Sub(commits.begun) > unstored: // it is slow, which is no error
		return web.Degraded, errs.Say("commits have been on their way to %s since %s", name, commits.begun.UTC().Format(time.RFC3339))
	}
	return web.Healthy, errs.Say("copies are made and proven")
}

// clockStep is how far a time may be in the future before it is said: see kv.DB.FollowClock.
const clockStep = 2 * time.Minute

// ahead returns the latest time of a copy or a commit if it is in the future, and whether it is that of the newest:
// then what is stored from now on can't be told from what was stored before. It is zero for none.
func (w *worker) ahead(now time.Time) (latest time.Time, isNewest bool) {
	_, ranges, _ := w.commits()
	var last time.Time // newest commit
	for _, r := range ranges {
		if last = r.To; last.After(latest) {
			latest = last
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.copies {
		if at := c.At.Std(); at.After(latest) {
			latest = at
		}
	}
	now = now.Add(clockStep)
	if !latest.After(now) {
		return time.Time{}, false
	}
	c := newest(w.copies)
	return latest, last.After(now) || c != nil && c.At.Std().After(now)
}

func saysAhead(target string, until time.Time) errs.Message {
	return errs.Say("the clock was ahead, or is behind: copies or commits at %s are dated until %s; those of that time are restored with --copy", target, until.UTC().Format(time.RFC3339))
}

// good returns the time of the newest proven copy or, at a command, of the newest that was sent.
func (w *worker) good() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return newestGood(w.copies, w.b.now())
}

// aheadBy is how far a time may be in the future because two clocks differ. One further ahead says nothing: the
// clock was wrong then.
const aheadBy = time.Hour

// newestGood returns the time of the newest copy that is proven or was sent; zero for none.
func newestGood(copies []Copy, now time.Time) (at time.Time) {
	for _, c := range copies {
		if (c.State == Proven || c.State == Sent) && c.At.Std().After(at) && !c.At.Std().After(now.Add(aheadBy)) {
			at = c.At.Std()
		}
	}
	return at
}

// text returns the first line of an error for people who see the health.
func text(err error) string {
	if err == nil {
		return ""
	}
	return cmp.Or(firstLine(errs.ForOperator(err).Error()), "unknown")
}

// proofAge is the value of a metric.
func (b *Service) proofAge() float64 {
	oldest := 0.0
	for _, w := range b.all() {
		good := w.good()
		if good.IsZero() {
			return -1
		}
		oldest = max(oldest, b.now().Sub(good).Seconds())
	}
	return oldest
}
