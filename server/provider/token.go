package provider

import (
	"bytes"
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"reeve/store/errs"
)

const (
	maxToken = 128 << 10        // bytes of an ID token
	maxSkew  = time.Minute      // by which clocks may differ
	maxAge   = 10 * time.Minute // of an ID token
)

// errToken is why an ID token, or a logout token, is refused. The reason is for an administrator.
func errToken(reason errs.Message) error {
	return errs.New(errs.Denied, "the provider's token is not accepted: %s", reason).Coded("provider_token")
}

// claimed are the claims of a token that are looked at here.
type claimed struct {
	AuthorizedParty string                     `json:"azp"`
	Email           string                     `json:"email"`
	EmailVerified   any                        `json:"email_verified"`
	Username        string                     `json:"preferred_username"`
	Name            string                     `json:"name"`
	SID             string                     `json:"sid"`
	AuthTime        float64                    `json:"auth_time"`
	JTI             string                     `json:"jti"`
	Events          map[string]json.RawMessage `json:"events"`
}

// verify checks the signature, the issuer, the audience and the times of a token. One that does not say
// when it expires, as a logout token of the drafts of the standard, has expired when it is too old.
func (c *Client) verify(ctx context.Context, config *Config, m *metadata, raw string) (*oidc.IDToken, error) {
	if len(raw) > maxToken {
		return nil, errToken(errs.Say("it has more than %d KiB; let the provider send fewer groups", maxToken>>10))
	}
	keys := &keyFault{keySet: m.keys}
	token, err := oidc.NewVerifier(m.Issuer, keys, &oidc.Config{
		SkipClientIDCheck:    true,
		SkipIssuerCheck:      true,
		SkipExpiryCheck:      true,
		SupportedSigningAlgs: algorithmNames(),
	}).Verify(ctx, raw)
	if keys.err != nil {
		return nil, keys.err
	}
	if err != nil {
		return nil, errToken(errs.Say("its signature or form is not valid"))
	}
	now := time.Now()
	ahead, late := token.IssuedAt.Sub(now), now.Sub(token.IssuedAt)
	switch {
	case token.Issuer != m.Issuer:
		return nil, errToken(errs.Say("it is from another issuer"))
	case !slices.Contains(token.Audience, config.ClientID):
		return nil, errToken(errs.Say("it is for another client"))
	case ahead > maxSkew:
		return nil, errAhead(ahead)
	case late > maxAge:
		return nil, errToken(errs.Say("it was made %d minutes ago, or the provider's clock is behind", int(late.Round(time.Minute)/time.Minute)))
	case !token.Expiry.IsZero() && now.Sub(token.Expiry) > maxSkew:
		return nil, errExpired
	}
	return token, nil
}

var errExpired = errToken(errs.Say("it has expired"))

// errAhead refuses a time of the provider that is in the future.
func errAhead(by time.Duration) error {
	return errToken(errs.Say("the provider's clock is %d minutes ahead", int(by.Round(time.Minute)/time.Minute)))
}

// verified returns the claims of an ID token.
func (c *Client) verified(ctx context.Context, config *Config, m *metadata, raw string, flow Flow) (*Claims, error) {
	token, err := c.verify(ctx, config, m, raw)
	if err != nil {
		return nil, err
	}
	all, in, err := claimsOf(token.Claims)
	if err != nil {
		return nil, err
	}
	authTime := time.Unix(int64(in.AuthTime), 0)
	ahead := time.Until(authTime)
	switch {
	case token.Expiry.IsZero():
		return nil, errExpired
	case token.Subject == "" || len(token.Subject) > maxSubject:
		return nil, errToken(errs.Say("its subject is missing or too long"))
	case subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(flow.Nonce)) != 1:
		return nil, errToken(errs.Say("it is for another sign-in"))
	case (len(token.Audience) > 1 || in.AuthorizedParty != "") && in.AuthorizedParty != config.ClientID:
		return nil, errToken(errs.Say("it is for another client"))
	case len(in.SID) > maxSubject:
		return nil, errToken(errs.Say("the name of its session is too long"))
	case in.AuthTime > maxTime || ahead > maxSkew:
		return nil, errAhead(ahead)
	case flow.Fresh && in.AuthTime == 0:
		return nil, errToken(errs.Say("it does not say when you signed in there"))
	case flow.Fresh && authTime.Before(flow.Started.Add(-maxSkew)):
		return nil, errToken(errs.Say("you were not asked to sign in again there"))
	}
	claims := &Claims{
		Issuer:        token.Issuer,
		Subject:       token.Subject,
		Email:         in.Email,
		EmailVerified: in.EmailVerified == true || in.EmailVerified == "true",
		Username:      proposal(in.Username),
		Name:          proposal(in.Name),
		SID:           in.SID,
		All:           all,
		idToken:       raw,
		endSession:    m.EndSession,
	}
	if in.AuthTime != 0 {
		claims.AuthTime = authTime
	}
	return claims, nil
}

const (
	maxSubject  = 255     // longest subject in bytes, by the standard
	maxProposal = 1 << 10 // longest name in bytes, of which only some characters are used
	maxTime     = 1 << 40 // seconds; a later time would overflow
)

// proposal returns the beginning of a name, since it is held until the sign-in is complete.
func proposal(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), maxProposal)], "")
}

// deciding are the claims on which it depends who a person is.
var deciding = [...]string{"iss", "sub", "aud", "azp", "exp", "iat", "nonce", "email", "email_verified", "sid",
	"auth_time", "jti", "events"}

// checkTwice refuses a claim that is there twice: programs differ in which of the two they take.
func checkTwice(raw json.RawMessage) error {
	in := json.NewDecoder(bytes.NewReader(raw))
	seen := map[any]bool{}
	_, err := in.Token() // the brace
	for err == nil && in.More() {
		var name json.Token
		if name, err = in.Token(); err != nil {
			break
		}
		if text, _ := name.(string); seen[name] && slices.Contains(deciding[:], text) {
			return errToken(errs.Say("the claim %s is there twice", text))
		}
		seen[name] = true
		var value json.RawMessage
		err = in.Decode(&value)
	}
	return err
}

// checkLetters refuses a claim that only package json takes for one of those that decide, as it takes
// Sub for sub: people can choose the names of other claims at some providers.
func checkLetters(all map[string]any) error {
	for name := range all {
		for _, known := range deciding {
			if name != known && strings.EqualFold(name, known) {
				return errToken(errs.Say("the claim %s has other letters", known))
			}
		}
	}
	return nil
}

func claimsOf(decode func(any) error) (map[string]any, *claimed, error) {
	var raw json.RawMessage
	all, in := map[string]any{}, &claimed{}
	err := decode(&raw)
	if err == nil {
		numbers := json.NewDecoder(bytes.NewReader(raw))
		numbers.UseNumber()
		err = errors.Join(numbers.Decode(&all), json.Unmarshal(raw, in))
	}
	if err != nil {
		return nil, nil, errToken(errs.Say("a claim has the wrong type"))
	}
	return all, in, cmp.Or(checkLetters(all), checkTwice(raw))
}

// addUserInfo adds what the provider tells besides the ID token, which wins.
func (c *Client) addUserInfo(ctx context.Context, m *metadata, token *oauth2.Token, to *Claims) error {
	var raw json.RawMessage
	if err := c.get(ctx, m.UserInfo, "Bearer "+token.AccessToken, &raw); err != nil {
		return err
	}
	all, in, err := claimsOf(func(v any) error { return json.Unmarshal(raw, v) })
	if err != nil {
		return err
	}
	if all["sub"] != to.Subject {
		return errToken(errs.Say("the profile is that of another person"))
	}
	if to.Email == "" {
		to.Email, to.EmailVerified = in.Email, in.EmailVerified == true || in.EmailVerified == "true"
	}
	if to.Username == "" {
		to.Username = proposal(in.Username)
	}
	if to.Name == "" {
		to.Name = proposal(in.Name)
	}
	for name, value := range all {
		if _, has := to.All[name]; !has {
			to.All[name] = value
		}
	}
	return nil
}

// Has reports whether a claim has a value, or a list with it. Parts of nested claims are separated by
// dots.
func (c *Claims) Has(claim, value string) bool {
	return has(c.All, claim, value)
}

func has(in map[string]any, claim, value string) bool {
	if v, ok := in[claim]; ok && matches(v, value) {
		return true
	}
	for i, r := range claim {
		if r != '.' {
			continue
		}
		if inner, ok := in[claim[:i]].(map[string]any); ok && has(inner, claim[i+1:], value) {
			return true
		}
	}
	return false
}

func matches(v any, value string) bool {
	switch v := v.(type) {
	case string:
		return v == value
	case json.Number:
		return v.String() == value
	case bool:
		return strconv.FormatBool(v) == value
	case []any:
		return slices.ContainsFunc(v, func(one any) bool {
			_, nested := one.([]any)
			return !nested && matches(one, value)
		})
	}
	return false
}

// Factor reports whether the claims amr or acr have one of the values, which stand for a second
// factor.
func (c *Claims) Factor(values []string) bool {
	return slices.ContainsFunc(values, func(value string) bool {
		return c.Has("amr", value) || c.Has("acr", value)
	})
}

// Logout is a message of a provider that a person, or a session, has ended there (OpenID Connect
// Back-Channel Logout 1.0).
type Logout struct {
	Issuer, Subject string
	SID             string
	ID              string // identifier of the message, which is accepted once
}

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout"

// Logout verifies a logout token.
func (c *Client) Logout(ctx context.Context, config *Config, raw string) (*Logout, error) {
	if config.GitHub {
		return nil, errToken(errs.Say("its signature or form is not valid"))
	}
	m, err := c.metadata(ctx, config)
	if err != nil {
		return nil, err
	}
	end, err := c.slots.Begin(m.Issuer) // any client may send a token, and the keys may be fetched
	if err != nil {
		return nil, err
	}
	defer end()
	token, err := c.verify(ctx, config, m, raw)
	if err != nil {
		return nil, err
	}
	all, in, err := claimsOf(token.Claims)
	if err != nil {
		return nil, err
	}
	event := bytes.TrimSpace(in.Events[logoutEvent])
	_, hasNonce := all["nonce"]
	switch {
	case !bytes.HasPrefix(event, []byte("{")) || hasNonce:
		return nil, errToken(errs.Say("it is no logout token"))
	case in.JTI == "" || len(in.JTI) > maxSubject || len(in.SID) > maxSubject ||
		len(token.Subject) > maxSubject || in.SID == "" && token.Subject == "":
		return nil, errToken(errs.Say("its subject is missing or too long"))
	}
	return &Logout{Issuer: token.Issuer, Subject: token.Subject, SID: in.SID, ID: in.JTI}, nil
}
