package webhook

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"reeve/server/outgoing"
	"reeve/store/errs"
)

// Message is what is sent to a receiver.
type Message struct {
	ID   string // the same in every attempt, so that a receiver recognizes repetitions
	Type string // type of the event; the body has it, too
	Body []byte // JSON
}

// Result is the outcome of one attempt. It contains neither a secret nor the path or
// query of the URL, which may be one.
type Result struct {
	Status     int           // HTTP status; 0 without a response
	Took       time.Duration // until the response was read, or the attempt failed
	Response   string        // beginning of the body: at most 2 KiB of UTF-8; empty if it is compressed
	Fault      errs.Message  // why it failed; empty if the status is 2xx
	RetryAfter time.Duration // how long a 429 or 503 asks to wait, at most 6 h; 0 if it does not
}

// maxRetryAfter bounds Result.RetryAfter.
const maxRetryAfter = 6 * time.Hour

// Send posts a message to a URL, signed with every secret, and returns within 15 s. It
// fails unless the status of the response is 2xx. Redirects are not followed.
func (c *Client) Send(ctx context.Context, url string, secrets []string, m *Message) Result {
	start := time.Now()
	r := c.send(ctx, url, secrets, m)
	r.Took = time.Since(start)
	return r
}

func (c *Client) send(ctx context.Context, url string, secrets []string, m *Message) (r Result) {
	u, err := outgoing.ParseURL("url", url, c.allow)
	if err != nil {
		return Result{Fault: errs.Say("%s", err)}
	}

	at := time.Now()
	signature, err := Sign(secrets, m.ID, at, m.Body)
	if err != nil {
		return Result{Fault: errs.Say("the signing secret is not valid; replace it")}
	}

	limited, cancel := context.WithTimeout(ctx, c.limits.total)
	defer cancel()
	request, err := http.NewRequestWithContext(limited, http.MethodPost, u.String(),
		bytes.NewReader(m.Body))
	if err != nil {
		return Result{Fault: errs.Say("must be a URL that starts with https:// or http://")}
	}

	request.Header = http.Header{
		"Content-Type":      {"application/json"},
		"User-Agent":        {c.agent},
		"Webhook-Id":        {m.ID},
		"Webhook-Timestamp": {strconv.FormatInt(at.Unix(), 10)},
		"Webhook-Signature": {signature},
	}

	transport := c.secure
	if u.Scheme == "http" {
		transport = c.plain
	}

	response, err := transport.RoundTrip(request) // an http.Client would follow redirects
	if err != nil {
		return Result{Fault: c.faultOf(ctx, err, u.Hostname())}
	}

	defer response.Body.Close() // what was not read of it is not read any more
	// The status decides. If the body ends early or is too slow, that does not matter.
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if response.Header.Get("Content-Encoding") != "" {
		body = nil // compressed, although that was not asked for
	}

	return Result{
		Status:     response.StatusCode,
		Response:   excerpt(body, u, secrets, signature),
		Fault:      statusFault(response.StatusCode),
		RetryAfter: retryAfter(response, time.Now()),
	}
}

// statusFault returns an empty Message for a status of success.
func statusFault(status int) errs.Message {
	switch {
	case status >= 200 && status < 300:
		return errs.Message{}
	case status >= 300 && status < 400:
		return errs.Say("the receiver answered %d, and redirects are not followed; change the URL to the final one", status)
	}
	return errs.Say("the receiver answered %d", status)
}

// retryAfter returns how long a response asks to wait: seconds, or until an HTTP date.
func retryAfter(response *http.Response, now time.Time) time.Duration {
	if response.StatusCode != http.StatusTooManyRequests &&
		response.StatusCode != http.StatusServiceUnavailable {
		return 0
	}

	text := strings.TrimSpace(response.Header.Get("Retry-After"))
	if text != "" && strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter
		}
		return time.Duration(seconds) * time.Second
	}

	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}

	return min(max(at.Sub(now), 0), maxRetryAfter)
}
