package jobs

import (
	"time"

	"reeve/store"
	"reeve/store/kv"
)

// In a cluster, a job can run at another node: a request that waits for it follows its row.

// note is called after each commit.
func (js *Runner) note(c kv.Changes) {
	if c.Of(store.Jobs) == nil {
		return
	}
	js.mu.Lock()
	if js.changed != nil {
		close(js.changed)
		js.changed = nil
	}
	js.mu.Unlock()
	if c.Followed() {
		select {
		case js.nudged <- struct{}{}:
		default:
		}
	}
}

// follow returns a channel that is closed when a job has ended, or can't be followed any more. All requests
// that wait for a job share a goroutine.
func (js *Runner) follow(id store.ID) <-chan struct{} {
	js.mu.Lock()
	defer js.mu.Unlock()
	if ended := js.followed[id]; ended != nil {
		return ended
	}
	ended := make(chan struct{})
	js.followed[id] = ended
	js.Running.Go(func() {
		defer func() {
			js.mu.Lock()
			delete(js.followed, id)
			js.mu.Unlock()
			close(ended)
		}()
		for begun := false; ; {
			changed := js.nextChange()
			duty := js.s.OnDuty()
			if duty && !begun { // after a fault, Keep tries again
				js.begin(id)
			}
			begun = duty
			goesOn := false
			err := js.s.DB.View(store.System, func(tx *store.Tx) error {
				j, err := store.Jobs.Get(tx, id)
				goesOn = err == nil && !j.Ended()
				return err
			})
			if err != nil || !goesOn {
				return
			}
			select {
			case <-changed:
			case <-js.ctx.Done():
				return
			case <-time.After(dutyStep): // this node may have the duties now
			}
		}
	})
	return ended
}

// nextChange returns a channel that is closed when jobs change.
func (js *Runner) nextChange() <-chan struct{} {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.changed == nil {
		js.changed = make(chan struct{})
	}
	return js.changed
}
