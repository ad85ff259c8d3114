package reeve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Error is a failed call. Texts and fields never contain the credential.
type Error struct {
	Method, Path string
	Status       int               // HTTP status; 0 if there was no response
	Code         string            // stable code, such as stale or already_done; unreachable or timeout if there was no response, bad_response if it is not Reeve's
	Message      string            // description of the fault, in English
	Fields       map[string]string // description of the fault of each field
	RequestID    string            // ID of the request in monitoring
	RetryAfter   time.Duration     // delay before another attempt; 0 if unknown

	cause error
}

// Error implements error.
func (e *Error) Error() string {
	text := fmt.Sprintf("reeve: %s %s: %s", e.Method, e.Path, e.Message)
	if e.Status != 0 {
		text += " (" + strings.TrimSpace(fmt.Sprint(e.Status, " ", e.Code)) + ")"
	}
	for _, field := range slices.Sorted(maps.Keys(e.Fields)) {
		text += fmt.Sprintf("; %s: %s", field, e.Fields[field])
	}
	return text
}

// Unwrap returns the error of the connection, or of decoding a response.
func (e *Error) Unwrap() error { return e.cause }

// attempt is a request that can be sent several times.
type attempt struct {
	method, path string
	server       string // base URL
	target       string // URL
	header       http.Header
	body         []byte
	limit        time.Duration // timeout of one attempt
}

func (c *Client) newAttempt(method, path string) *attempt {
	a := &attempt{
		method: method,
		path:   path,
		server: c.url,
		target: c.url + path,
		header: http.Header{"Accept": {"application/json"}},
		limit:  c.timeout,
	}
	if c.key != "" {
		a.header.Set("Authorization", "Bearer "+c.key)
	}
	for name, value := range map[string]string{
		"X-Forwarded-For": c.device.Address,
		"User-Agent":      c.device.UserAgent,
		"Accept-Language": c.device.Language,
	} {
		if value != "" {
			a.header.Set(name, value)
		}
	}

	return a
}

// response is a whole response.
type response struct {
	status int
	header http.Header
	body   []byte
}

// Bounds of a call.
const (
	maxResponse = 16 << 20
	firstPause  = 100 * time.Millisecond // doubles with each attempt
	maxPause    = 10 * time.Second       // a longer Retry-After is left to the caller
)

const badResponse = "bad_response"

var errTooLarge = fmt.Errorf("the response is larger than %d MiB", maxResponse>>20)

// send sends a request until it is answered in a way that another attempt would not change.
func (c *Client) send(ctx context.Context, a *attempt) (*response, error) {
	for n := 0; ; n++ {
		res, err := c.sendOnce(ctx, a)
		pause, again := a.pause(n, res, err)
		if again && n < c.retries && ctx.Err() == nil {
			select {
			case <-time.After(pause):
				continue
			case <-ctx.Done():
			}
		}
		if err != nil {
			return nil, c.unanswered(a, err)
		}

		return res, nil
	}
}

// unanswered returns the error of a request without a whole response.
func (c *Client) unanswered(a *attempt, err error) *Error {
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err // which the method and the path are added to
	}
	code, text := "unreachable", fmt.Sprintf("no response from %s: %v", c.url, err)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		code = "timeout"
	case errors.Is(err, errTooLarge):
		code, text = badResponse, err.Error()
	}
	return &Error{Method: a.method, Path: a.path, Code: code, Message: text, cause: err}
}

func (c *Client) sendOnce(ctx context.Context, a *attempt) (*response, error) {
	ctx, cancel := context.WithTimeout(ctx, a.limit)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, a.method, a.target, bytes.NewReader(a.body))
	if err != nil {
		return nil, err
	}

	req.Header = a.header.Clone()
	c.commits.add(req.Header)
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}

	c.commits.note(res.Header.Get(commitHeader))
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxResponse+1))
	if err == nil && len(body) > maxResponse {
		err = errTooLarge
	}

	return &response{res.StatusCode, res.Header, body}, err
}

// pause reports whether attempt n, from 0, can be followed by another one, and how long to wait
// before it.
func (a *attempt) pause(n int, res *response, err error) (pause time.Duration, again bool) {
	pause = firstPause<<min(n, 6) + jitter(firstPause)
	// What reads, and what the server carries out once, can be repeated whatever has happened.
	safe := a.method == http.MethodGet || a.method == http.MethodHead ||
		a.header.Get("Idempotency-Key") != ""
	if err != nil {
		return pause, safe && !errors.Is(err, errTooLarge)
	}

	switch res.status {
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		again = safe
	case http.StatusServiceUnavailable:
		// Proxies answer 503, too, some of them after the request was sent on.
		code := res.envelope().Code
		again = safe || code != "" && code != "write_outcome_unknown"
	case http.StatusTooManyRequests:
		again = true
	}

	if wait := res.retryAfter(); wait > 0 {
		pause = wait
	}

	return pause, again && pause <= maxPause
}

// retryAfter returns when the server wants to be asked again; 0 if it has not said it.
func (r *response) retryAfter() time.Duration {
	text := r.header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

func (r *response) envelope() (e envelope) {
	if json.Unmarshal(r.body, &e) != nil {
		return envelope{} // of a proxy in between
	}
	return e
}

// failure returns the error of a response without success.
func (r *response) failure(a *attempt) *Error {
	e := r.envelope()
	code, message := e.Code, e.Message
	if message == "" {
		code, message = badResponse, a.server+" does not answer like Reeve; is the URL right?"
	}
	if r.status == http.StatusUnauthorized && a.header.Get("Authorization") == "" {
		message += "; the client has no key"
	}

	return &Error{
		Method:     a.method,
		Path:       a.path,
		Status:     r.status,
		Code:       code,
		Message:    message,
		Fields:     e.Errors,
		RequestID:  e.RequestID,
		RetryAfter: r.retryAfter(),
	}
}

// jitter returns a random duration below a limit, so that clients do not try again at the same
// moment.
func jitter(limit time.Duration) time.Duration {
	var b [8]byte
	rand.Read(b[:]) // it never fails
	return time.Duration(binary.NativeEndian.Uint64(b[:]) % uint64(limit))
}
