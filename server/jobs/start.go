package jobs

import (
	"errors"

	"reeve/store"
	"reeve/store/errs"
)

// Start lets a job run in the background, in a cluster at the node with the duties. The channel is closed
// when the job has ended or, without a cluster, must be continued later.
func (js *Runner) Start(id store.ID) <-chan struct{} {
	if js.s.Config.Cluster != nil {
		return js.follow(id)
	}
	return js.begin(id)
}

// begin runs a job in the background unless it is already running. The channel is closed when the job has
// ended or must be continued later.
func (js *Runner) begin(id store.ID) <-chan struct{} {
	js.mu.Lock()
	defer js.mu.Unlock()
	if ended := js.ended[id]; ended != nil {
		return ended
	}

	ended := make(chan struct{})
	js.ended[id] = ended
	js.Running.Go(func() {
		err := js.inTurn(id)
		if err != nil && !errors.Is(err, errStopped) {
			js.s.Log.Error().Err(err).Stringer("job", id).Msg("a job was interrupted and will be continued")
		}
		js.mu.Lock()
		delete(js.ended, id)
		js.mu.Unlock()
		close(ended)
	})
	return ended
}

// inTurn runs a job when no other one runs, unless it may run beside others.
func (js *Runner) inTurn(id store.ID) error {
	beside := false
	err := js.s.DB.View(store.System, func(tx *store.Tx) error {
		j, err := store.Jobs.Get(tx, id)
		beside = err == nil && js.kinds[j.Kind].Work != nil
		return err
	})
	if err != nil && !errs.Is(err, errs.NotFound) {
		return err
	}
	if !beside {
		js.Turn <- struct{}{}
		defer func() { <-js.Turn }()
	}
	return js.Run(id)
}
