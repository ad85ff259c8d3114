package web

import (
	"strconv"

	"reeve/store"
)

// limitRate counts a request of an API key, and tells the client what remains of its rate limit in
// the headers of draft-ietf-httpapi-ratelimit-headers-05.
func (req *Request) limitRate(tx *store.Tx) error {
	if req.Session == nil || req.Session.Key == nil {
		return nil
	}
	rate, err := req.Session.Key.Take(tx)
	h, limit := req.Writer.Header(), strconv.FormatInt(rate.Limit, 10)
	values := []string{limit, limit + ";w=60", strconv.FormatInt(rate.Remaining, 10), strconv.Itoa(rate.Reset)} // one allocation for all
	h["Ratelimit-Limit"] = values[0:1:1]
	h["Ratelimit-Policy"] = values[1:2:2]
	h["Ratelimit-Remaining"] = values[2:3:3]
	h["Ratelimit-Reset"] = values[3:4:4]
	return err
}
