// Package provider signs people in with OpenID providers and GitHub. It knows neither routes nor
// records.
//
// Start with [Client]. Start returns the address to which a browser is sent, and Finish what the
// provider says of the person who has come back from there. An OpenID provider is asked with the
// authorization code flow, PKCE (RFC 7636) and a nonce; the issuer is checked in the ID token and, where
// the provider sends it, in the response (RFC 9207). GitHub has no ID token: its API is asked instead.
//
// Providers are not trusted: what they send is bounded, and the client connects only where package
// outgoing allows. What a provider says of itself is kept for an hour, a failure for some seconds, and
// a provider that does not answer is asked by a few requests at a time, so that it delays nothing else.
//
//	client := provider.NewClient(allow, "1.2.3")
//	flow := provider.NewFlow()
//	url, err := client.Start(ctx, config, flow, provider.Options{})
//	claims, err := client.Finish(ctx, config, flow, request.URL.Query())
package provider

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"reeve/store/errs"
)

// Config is how a provider is asked.
type Config struct {
	GitHub   bool
	Issuer   string // URL
	ClientID string
	Secret   string // "" for a public client
	Scopes   []string
	Callback string // URL to which the browser comes back
}

// Flow has the secrets of one attempt to sign in, which only the browser knows that has begun it.
type Flow struct {
	State, Nonce, Verifier string
	Started                time.Time
	Fresh                  bool // the person has to prove who it is now
}

// NewFlow returns a new Flow.
func NewFlow() Flow {
	return Flow{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Started: time.Now()}
}

// Claims are what a provider says of a person.
type Claims struct {
	Issuer, Subject string
	Email           string // "" for none
	EmailVerified   bool   // whether the provider says so
	Username, Name  string // proposals
	SID             string // session at the provider; "" if unknown
	AuthTime        time.Time
	All             map[string]any // everything, decoded from JSON

	idToken, endSession string // "" for GitHub; the URL is also "" if the provider has none
}

// oauth returns the configuration of package oauth2.
func (c *Config) oauth(m *metadata) *oauth2.Config {
	scopes := c.Scopes
	if !c.GitHub {
		scopes = append([]string{"openid"}, scopes...)
	}
	return &oauth2.Config{
		ClientID:     c.ClientID,
		ClientSecret: c.Secret,
		RedirectURL:  c.Callback,
		Scopes:       scopes,
		Endpoint: oauth2.Endpoint{
			AuthURL:   m.Authorization,
			TokenURL:  m.Token,
			AuthStyle: m.style(c.Secret),
		},
	}
}

// Options of Start.
type Options struct {
	Hint string // address of the person, if known
}

// Start returns the address to which the browser is sent to sign in.
func (c *Client) Start(ctx context.Context, config *Config, flow Flow, o Options) (string, error) {
	m, err := c.metadata(ctx, config)
	if err != nil {
		return "", err
	}
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(flow.Verifier)}
	add := func(name, value string) {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	if !config.GitHub {
		add("nonce", flow.Nonce)
	}
	if flow.Fresh {
		add("prompt", "login")
		add("max_age", "0")
	}
	if o.Hint != "" {
		add(map[bool]string{true: "login", false: "login_hint"}[config.GitHub], o.Hint)
	}
	return config.oauth(m).AuthCodeURL(flow.State, options...), nil
}

// maxQuery limits the query with which a browser comes back, in bytes.
const maxQuery = 16 << 10

// Finish returns what the provider says of the person who comes back with a query.
func (c *Client) Finish(ctx context.Context, config *Config, flow Flow, query url.Values) (*Claims, error) {
	if len(query.Encode()) > maxQuery ||
		subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(flow.State)) != 1 {
		return nil, ErrState
	}
	m, err := c.metadata(ctx, config)
	if err != nil {
		return nil, err
	}
	if iss := query.Get("iss"); iss != m.Issuer && (iss != "" || m.SendsIssuer) {
		return nil, errOtherIssuer
	}
	if query.Get("error") != "" {
		return nil, refusal(query.Get("error"))
	}
	if query.Get("code") == "" {
		return nil, ErrState
	}

	end, err := c.slots.Begin(m.Issuer)
	if err != nil {
		return nil, err
	}
	defer end()
	ctx, cancel := context.WithTimeout(c.with(ctx), timeLimit)
	defer cancel()
	token, err := config.oauth(m).Exchange(ctx, query.Get("code"), oauth2.VerifierOption(flow.Verifier))
	if err != nil {
		return nil, c.exchangeFault(ctx, err, m.Token)
	}
	if config.GitHub {
		return c.gitHubClaims(ctx, config, m, token)
	}
	raw, _ := token.Extra("id_token").(string)
	claims, err := c.verified(ctx, config, m, raw, flow)
	if err == nil && m.UserInfo != "" {
		err = c.addUserInfo(ctx, m, token, claims)
	}
	return claims, err
}

var (
	// ErrState refuses a response to no request of this browser.
	ErrState = errs.New(errs.Denied,
		"this sign-in did not begin in this browser, has expired, or was used already; begin again").Coded("provider_state")
	errOtherIssuer = errs.New(errs.Denied,
		"the response is from another provider than the one that was asked").Coded("provider_mixed_up")
)

// refusal returns the error for a code of RFC 6749 (4.1.2.1) or OpenID Connect.
func refusal(code string) error {
	switch code {
	case "access_denied", "interaction_required", "login_required", "consent_required", "account_selection_required":
		return errs.New(errs.Denied, "the sign-in was cancelled, or the provider does not allow it").Coded("provider_denied")
	case "temporarily_unavailable", "server_error":
		return errs.New(errs.Busy, "the provider has a fault; try again later").After(time.Minute).Coded("provider_fault")
	}
	return errs.New(errs.Denied, "the provider has refused the request with the code %s; an administrator has to check its settings",
		plainCode(code)).Coded("provider_refused")
}

// plainCode returns a code of a provider without what is none.
func plainCode(code string) string {
	const longest = 40
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r == '_' {
			return r
		}
		return -1
	}, code[:min(len(code), longest)])
}

// maxIDToken is the largest ID token in bytes that is sent in an address.
const maxIDToken = 4 << 10

// LogoutURL returns where a browser is sent to end its session at the provider as well, and then comes
// back; "" if the provider has no such page.
func (c *Claims) LogoutURL(config *Config, back string) string {
	u, err := url.Parse(c.endSession)
	if err != nil || c.endSession == "" {
		return ""
	}
	query := u.Query()
	query.Set("client_id", config.ClientID)
	query.Set("post_logout_redirect_uri", back)
	if len(c.idToken) <= maxIDToken {
		query.Set("id_token_hint", c.idToken)
	}
	u.RawQuery = query.Encode()
	return u.String()
}
