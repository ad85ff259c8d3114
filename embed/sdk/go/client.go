// Package reeve is the Go client of Reeve, an administration backend. It is part of the program:
// every installation serves the client of its own version as the module reeve.internal/reeve. It
// needs only the standard library.
//
// Start with New, whose Client asks for permissions (Can, Check), lets only some users into the
// routes of a program (Protect), follows settings (Follow) and calls every operation of the API
// (Call). Flag evaluates feature flags. Events and Webhook receive changes.
//
//	client, err := reeve.New(reeve.Options{URL: "http://127.0.0.1:8080", Key: os.Getenv("REEVE_KEY")})
//	…
//	mux.Handle("POST /orders/{id}/refund", client.Protect("shop.order.refund")(refund))
//
// All methods can be called from several goroutines.
package reeve

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options configure a client.
type Options struct {
	URL    string // base URL of Reeve, such as https://reeve.example.org
	Key    string // API key, or token of a session; empty for none
	Origin string // origin of the program itself, such as https://shop.example.org; needed for the sign-in of browsers

	PublicURL string // URL at which the browsers of app users reach Reeve; URL if it is empty

	Timeout time.Duration // timeout of one attempt; 10 s if it is 0
	Retries int           // further attempts after a failure; 3 if it is 0, none if it is negative

	FlagAge time.Duration // age up to which flags are not read again; 10 s if it is 0

	Logger *slog.Logger // gets what Protect can't tell its clients, and failures of Follow, Flag and Events; slog.Default() if it is nil
}

const (
	defaultTimeout = 10 * time.Second
	defaultRetries = 3
)

// Client calls Reeve with one credential.
type Client struct {
	url     string // base URL without a slash at the end
	key     string
	device  Device   // client for which the program asks; zero for the program itself
	origin  *url.URL // nil for none
	public  string   // base URL for browsers, without a slash at the end
	seal    []byte   // key of the signatures of cookies
	timeout time.Duration
	retries int
	logger  *slog.Logger
	http    *http.Client
	warned  *sometimes
	flags   *flagCache
	commits *commits
}

// New returns a client. The error is about the options; New does not connect.
func New(o Options) (*Client, error) {
	base, err := baseURL("URL", o.URL)
	if err != nil {
		return nil, err
	}

	c := &Client{
		url:     strings.TrimRight(base.String(), "/"),
		key:     strings.TrimSpace(o.Key),
		timeout: o.Timeout,
		retries: o.Retries,
		logger:  o.Logger,
		warned:  new(sometimes),
		commits: new(commits),
		flags:   &flagCache{age: o.FlagAge, sets: map[[sha256.Size]byte]*flagSet{}},
	}
	if strings.ContainsFunc(c.key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, fmt.Errorf("reeve: Options.Key has characters that no key has")
	}
	if o.Origin != "" {
		if c.origin, err = baseURL("Origin", o.Origin); err != nil {
			return nil, err
		}
		if strings.Trim(c.origin.Path, "/") != "" {
			return nil, fmt.Errorf("reeve: Options.Origin must not have a path: %q", o.Origin)
		}
		port := map[string]string{"http": ":80", "https": ":443"}[c.origin.Scheme]
		c.origin.Host = strings.TrimSuffix(strings.ToLower(c.origin.Host), port) // as in the header Origin
	}
	c.public = c.url
	if o.PublicURL != "" {
		public, err := baseURL("PublicURL", o.PublicURL)
		if err != nil {
			return nil, err
		}
		c.public = strings.TrimRight(public.String(), "/")
	}
	c.seal = sealKey(c.key)
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	if c.retries == 0 {
		c.retries = defaultRetries
	}
	if c.flags.age <= 0 {
		c.flags.age = defaultFlagAge
	}
	if c.logger == nil {
		c.logger = slog.Default()
	}

	transport := http.DefaultTransport // the program may have replaced it
	if own, ok := transport.(*http.Transport); ok {
		own = own.Clone()
		own.MaxIdleConnsPerHost = 64 // all requests go to one host
		transport = own
	}
	// A redirect could lead the credential to another server.
	c.http = &http.Client{Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}}

	return c, nil
}

func baseURL(field, text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("reeve: Options.%s must be a URL like https://reeve.example.org",
			field)
	}
	return u, nil
}

// As returns a client that uses another token or key.
func (c *Client) As(token string) *Client {
	other := *c
	other.key = strings.TrimSpace(token)
	return &other
}

// Format implements fmt.Formatter, so that logs do not have the key.
func (c *Client) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "reeve.Client(%s)", c.url) }

// Request is a call of an operation.
type Request struct {
	Method string
	Path   string     // such as /admin/list
	Query  url.Values // nil for none
	Body   any        // encoded as JSON; nil for none

	// IdempotencyKey makes repeated POST requests one operation, even over several calls. If it is
	// empty, each call gets one of its own.
	IdempotencyKey string
}

// Call carries out an operation, and decodes its data into out unless that is nil. The error is an
// *Error, unless in cannot be encoded or the path is not one. Failures that may pass are tried
// again, see Do.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	return c.Do(ctx, Request{Method: method, Path: path, Body: in}, out)
}

// Do is Call with more options. It repeats a GET, or a POST with a credential, after no response,
// 502, 503 and 504; such a POST has an Idempotency-Key, so that it is carried out once. It repeats
// other requests only if the server has not carried them out: after 429, and after Reeve's own 503
// unless the outcome is unknown.
func (c *Client) Do(ctx context.Context, r Request, out any) error {
	if !strings.HasPrefix(r.Path, "/") { // it could lead the credential to another server
		return fmt.Errorf("reeve: the path %q must begin with a slash", r.Path)
	}

	var body []byte
	if r.Body != nil {
		var err error
		if body, err = json.Marshal(r.Body); err != nil {
			return fmt.Errorf("reeve: encode the body of %s %s: %w", r.Method, r.Path, err)
		}
	}

	a := c.newAttempt(r.Method, r.Path)
	if len(r.Query) > 0 {
		a.target += "?" + r.Query.Encode()
	}
	if a.body = body; body != nil {
		a.header.Set("Content-Type", "application/json")
	}
	if r.Method == http.MethodPost && c.key != "" {
		if r.IdempotencyKey == "" {
			r.IdempotencyKey = rand.Text()
		}
		a.header.Set("Idempotency-Key", r.IdempotencyKey)
	}

	res, err := c.send(ctx, a)
	if err != nil {
		return err
	}
	if res.status < 200 || res.status > 299 {
		return res.failure(a)
	}

	return res.decode(a, out)
}

// envelope is the form of all responses but those of protocols.
type envelope struct {
	Success   *bool             `json:"success"`
	Data      json.RawMessage   `json:"data"`
	Message   string            `json:"msg"`
	Code      string            `json:"errorCode"`
	RequestID string            `json:"requestId"`
	Errors    map[string]string `json:"errors"`
}

// decode decodes the data of a successful response. The responses of protocols have no envelope.
func (r *response) decode(a *attempt, out any) error {
	if out == nil || r.status == http.StatusNoContent {
		return nil
	}
	var e envelope
	data := r.body
	if json.Unmarshal(r.body, &e) == nil && e.Success != nil {
		data = e.Data
	}
	if err := json.Unmarshal(data, out); err != nil {
		return r.unexpected(a, err)
	}
	return nil
}

// unexpected returns the error of a response with success that is not Reeve's.
func (r *response) unexpected(a *attempt, cause error) *Error {
	return &Error{
		Method:  a.method,
		Path:    a.path,
		Status:  r.status,
		Code:    badResponse,
		Message: a.server + " answers in another form than expected; is the URL right?",
		cause:   cause,
	}
}

// Realms of users.
const (
	Admin = "admin" // users of the backend, and API keys
	App   = "app"   // app users
)

func realmPath(realm string) string {
	if realm == App {
		return "/api"
	}
	return "/admin"
}

// Scope is the data scope of a user: the departments and users whose data they may see.
type Scope struct {
	All     bool    `json:"all"`      // everything
	UserID  int64   `json:"user_id"`  // the user, who is always in it
	DeptIDs []int64 `json:"dept_ids"` // departments in it, unless it is everything
}

// Check is the answer to a check of permissions.
type Check struct {
	Active  bool            `json:"active"` // the token is valid, or the user enabled
	Allowed map[string]bool `json:"allowed"`
	Unknown []string        `json:"unknown"`    // keys of permissions that do not exist, perhaps mistyped
	Scope   *Scope          `json:"data_scope"` // nil if it is not active, or of an app user
	User    *struct {
		ID       int64  `json:"id"`
		Username string `json:"username"`
		Realm    string `json:"realm"`
		KeyID    int64  `json:"key_id"` // 0 for a session
		KeyName  string `json:"key_name"`
	} `json:"user"` // nil if it is not active
}

// Check asks whose token it is and which of some permissions they have. The answer is that of this
// moment; the client's key needs the permission auth.check.
func (c *Client) Check(ctx context.Context, token string, permissions ...string) (*Check, error) {
	out, in := new(Check), map[string]any{"token": token, "permissions": append([]string{}, permissions...)} // not null in JSON
	return out, c.Call(ctx, http.MethodPost, "/auth/check", in, out)
}

// Can reports whether a token is valid and has a permission.
func (c *Client) Can(ctx context.Context, token, permission string) (bool, error) {
	out, err := c.Check(ctx, token, permission)
	return err == nil && out.Allowed[permission], err
}
