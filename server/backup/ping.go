package backup

import (
	"context"
	"errors"
	"net/http"
	neturl "net/url"
	"time"
)

// pingTime is the timeout of a request to the URL that is requested after proven copies.
const pingTime = 10 * time.Second

// ping requests the URL of a monitor after a proof. A failure is logged: the monitor raises the alarm by itself. It
// also does if a target without a proven copy within the limit keeps this from being requested. Commands, whose copies
// can't be proven, do not.
func (b *Service) ping(ctx context.Context) {
	b.mu.Lock()
	url := b.set.PingURL
	b.mu.Unlock()
	if url == "" {
		return
	}
	if missing, err := b.withoutProof(); missing != "" || err != nil {
		b.s.Log.Warn().Err(err).Str("target", missing).Msg("the URL for proven copies is not requested: this target has no recent one")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err == nil {
		var resp *http.Response
		if resp, err = http.DefaultClient.Do(req); err == nil {
			resp.Body.Close()
			if resp.StatusCode >= 300 {
				err = errors.New("it answers " + resp.Status)
			}
		}
	}
	if err != nil {
		if failed := (&neturl.Error{}); errors.As(err, &failed) { // whose text has the URL, which can be a secret
			err = failed.Err
		}
		b.s.Log.Warn().Err(err).Msg("the URL for proven copies could not be requested")
	}
}
