package blob

import "time"

// SetPatience sets the times after which requests end in which nothing moves.
func (r *Remote) SetPatience(send, read time.Duration) {
	r.patience.send, r.patience.read = send, read
}
