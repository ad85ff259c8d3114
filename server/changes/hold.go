package changes

import "reeve/server/web"

// HoldStream acquires a place of an event stream, which requests that wait have, too. A user or an
// API key has at most a quarter of them, and so have all requests without a token together.
func HoldStream(req *web.Request) error {
	defer req.LeavePlace()
	most := max(req.Server.Limits.Streams.Total/userStreams, 1)
	if req.Session != nil {
		return req.HoldOne(req.Server.Limits.Streams, most)
	}
	return req.HoldOne(req.Server.Limits.Streams, most, "without a token")
}
