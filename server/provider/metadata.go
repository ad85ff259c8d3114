package provider

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/oauth2"

	"reeve/server/outgoing"
	"reeve/store/errs"
)

// metadata is what a provider says of itself (OpenID Connect Discovery 1.0).
type metadata struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	UserInfo      string   `json:"userinfo_endpoint"`
	Keys          string   `json:"jwks_uri"`
	EndSession    string   `json:"end_session_endpoint"`
	Methods       []string `json:"token_endpoint_auth_methods_supported"`
	SendsIssuer   bool     `json:"authorization_response_iss_parameter_supported"`
	BackChannel   bool     `json:"backchannel_logout_supported"`

	keys *keySet
}

// style returns how the client secret is sent.
func (m *metadata) style(secret string) oauth2.AuthStyle {
	if secret == "" || len(m.Methods) > 0 && !slices.Contains(m.Methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

const (
	metadataLife = time.Hour
	failureLife  = 10 * time.Second // for which a provider that failed is not asked again
	maxKnown     = 100
)

// known is the metadata of a provider, or why it is unknown. Its mutex is held while it is asked.
type known struct {
	mu      sync.Mutex
	data    *metadata
	err     error
	expires time.Time
}

// metadata returns the metadata of a provider, which it asks once at a time. An old one is used while
// the provider can't be reached.
func (c *Client) metadata(ctx context.Context, config *Config) (*metadata, error) {
	if config.GitHub {
		return gitHub(config.Issuer), nil
	}
	c.mu.Lock()
	k := c.known[config.Issuer]
	if k == nil {
		if len(c.known) >= maxKnown {
			clear(c.known)
		}
		k = &known{}
		c.known[config.Issuer] = k
	}
	c.mu.Unlock()

	end, err := c.slots.Begin(config.Issuer)
	if err != nil {
		return nil, err
	}
	defer end()
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Now().Before(k.expires) {
		return k.data, k.err
	}
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	data, err := c.discover(ctx, config.Issuer)
	switch {
	case err == nil:
		if k.data != nil && k.data.Keys == data.Keys {
			data.keys = k.data.keys
		}
		k.data, k.err, k.expires = data, nil, time.Now().Add(metadataLife)
	case k.data != nil: // an old one is better than none
		k.expires = time.Now().Add(failureLife)
	case ctx.Err() != context.Canceled: // not because a browser has gone
		k.err, k.expires = err, time.Now().Add(failureLife)
	default:
		return nil, err
	}
	return k.data, k.err
}

func (c *Client) discover(ctx context.Context, issuer string) (*metadata, error) {
	m := &metadata{}
	err := c.get(ctx, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration", "", m)
	if err != nil {
		return nil, err
	}
	if m.Issuer != issuer {
		return nil, errs.New(errs.Denied, "the provider calls itself %s; enter this as the issuer, to the letter",
			shortened(m.Issuer)).Coded("provider_other_name")
	}
	for _, address := range []string{m.Authorization, m.Token, m.Keys} {
		if _, err := outgoing.ParseURL("issuer", address, c.allow); err != nil {
			return nil, errIncomplete
		}
	}
	for _, address := range []*string{&m.UserInfo, &m.EndSession} {
		if _, err := outgoing.ParseURL("issuer", *address, c.allow); err != nil {
			*address = ""
		}
	}
	m.keys = &keySet{client: c, url: m.Keys}
	return m, nil
}

var errIncomplete = errs.New(errs.Denied,
	"what the provider says of itself lacks an endpoint, or has one that may not be used").Coded("provider_incomplete")

// shortened returns a text of a provider that is shown to an administrator.
func shortened(text string) string {
	const longest = 200
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, text[:min(len(text), longest)])
}
