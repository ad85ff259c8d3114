package webhooks

import "reeve/store"

// Hook returns a webhook that exists.
func (w *Sender) Hook(id store.ID) (*Hook, error) {
	w.mu.Lock()
	h := w.hooks[id]
	w.mu.Unlock()
	if h != nil {
		return h, nil
	}
	if err := w.sync(); err != nil { // it was created just now
		return nil, err
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	if h = w.hooks[id]; h == nil {
		return nil, store.Webhooks.NotFound(id)
	}

	return h, nil
}
