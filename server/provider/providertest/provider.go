// Package providertest is an OpenID provider for tests: a right one, which a test can make wrong in one
// respect.
package providertest

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// ClientID and Secret are those of the client that the provider knows.
const (
	ClientID = "reeve"
	Secret   = "client secret of the tests"
)

// Provider is an OpenID provider on loopback. Its fields are set before a request.
type Provider struct {
	URL    string // the issuer
	Claims map[string]any

	// What it does wrong.
	Alter    func(claims map[string]any)                   // changes an ID token, or a logout token
	Sign     func(claims map[string]any) string            // makes a token in place of the right one
	Discover func(document map[string]any)                 // changes what it says of itself
	Answer   func(w http.ResponseWriter, path string) bool // answers a request in place of it
	UserInfo map[string]any                                // answer of /userinfo; nil for the subject alone

	t     testing.TB
	mu    sync.Mutex
	key   *rsa.PrivateKey
	keyID string
	codes map[string]grant
}

// grant is what a code stands for.
type grant struct{ nonce, challenge, redirect string }

// New starts a provider, which ends with the test.
func New(t testing.TB) *Provider {
	p := &Provider{t: t, codes: map[string]grant{}}
	p.Rotate()
	server := httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(server.Close)
	p.URL = server.URL
	p.Claims = map[string]any{"sub": "subject-1", "email": "ann@example.org", "email_verified": true,
		"preferred_username": "ann", "name": "Ann Example", "sid": "session-1"}
	return p
}

// Rotate replaces the key that signs.
func (p *Provider) Rotate() {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.key, p.keyID = key, rand.Text()
}

// PublicKey returns the public key in DER, as an attacker has it who wants to abuse it as a secret.
func (p *Provider) PublicKey() []byte {
	der, err := x509.MarshalPKIXPublicKey(&p.key.PublicKey)
	if err != nil {
		p.t.Fatal(err)
	}
	return der
}

func (p *Provider) serve(w http.ResponseWriter, r *http.Request) {
	if p.Answer != nil && p.Answer(w, r.URL.Path) {
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		document := map[string]any{
			"issuer":                 p.URL,
			"authorization_endpoint": p.URL + "/authorize",
			"token_endpoint":         p.URL + "/token",
			"userinfo_endpoint":      p.URL + "/userinfo",
			"jwks_uri":               p.URL + "/keys",
			"end_session_endpoint":   p.URL + "/end",
			"authorization_response_iss_parameter_supported": true,
		}
		if p.Discover != nil {
			p.Discover(document)
		}
		p.send(w, document)
	case "/keys":
		p.mu.Lock()
		defer p.mu.Unlock()
		p.send(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &p.key.PublicKey, KeyID: p.keyID,
			Algorithm: "RS256", Use: "sig"}}})
	case "/token":
		p.token(w, r)
	case "/userinfo":
		info := map[string]any{"sub": p.Claims["sub"]}
		maps.Copy(info, p.UserInfo)
		p.send(w, info)
	default:
		http.NotFound(w, r)
	}
}

func (p *Provider) send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Logf("provider: %v", err) // the client has gone
	}
}

// token exchanges a code, once, for the client with the secret and the verifier.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	id, secret, _ := r.BasicAuth()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	p.mu.Lock()
	g, known := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	p.mu.Unlock()
	if unescaped, err := url.QueryUnescape(secret); err == nil {
		secret = unescaped
	}
	if !known || id != ClientID || secret != Secret || g.redirect != r.FormValue("redirect_uri") ||
		g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		p.send(w, map[string]any{"error": "invalid_grant"})
		return
	}
	p.send(w, map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": p.Token(g.nonce)})
}

// Token returns an ID token for a nonce.
func (p *Provider) Token(nonce string) string {
	claims := maps.Clone(p.Claims)
	now := time.Now().Unix()
	maps.Copy(claims, map[string]any{"iss": p.URL, "aud": ClientID, "nonce": nonce, "iat": now,
		"exp": now + 300, "auth_time": now})
	return p.signed(claims)
}

// LogoutToken returns a logout token for the person and session.
func (p *Provider) LogoutToken(id string) string {
	now := time.Now().Unix()
	return p.signed(map[string]any{"iss": p.URL, "aud": ClientID, "iat": now, "exp": now + 120, "jti": id,
		"sub": p.Claims["sub"], "sid": p.Claims["sid"],
		"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}})
}

func (p *Provider) signed(claims map[string]any) string {
	if p.Alter != nil {
		p.Alter(claims)
	}
	if p.Sign != nil {
		return p.Sign(claims)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.SignWith(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.key, KeyID: p.keyID}}, claims)
}

// SignWith signs claims with a key.
func (p *Provider) SignWith(key jose.SigningKey, claims map[string]any) string {
	signer, err := jose.NewSigner(key, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		p.t.Fatal(err)
	}
	token, err := signer.Sign(payload)
	if err != nil {
		p.t.Fatal(err)
	}
	text, err := token.CompactSerialize()
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// Authorize is the browser of the person at the provider: it returns where the person is sent back.
func (p *Provider) Authorize(address string) *url.URL {
	p.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	q := u.Query()
	for name, want := range map[string]string{"client_id": ClientID, "response_type": "code",
		"code_challenge_method": "S256"} {
		if q.Get(name) != want {
			p.t.Fatalf("%s is %q at the provider, want %q", name, q.Get(name), want)
		}
	}
	code := rand.Text()
	p.mu.Lock()
	p.codes[code] = grant{q.Get("nonce"), q.Get("code_challenge"), q.Get("redirect_uri")}
	p.mu.Unlock()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		p.t.Fatal(err)
	}
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.URL}}.Encode()
	return back
}

// String names the provider in errors of tests.
func (p *Provider) String() string { return fmt.Sprint("provider at ", p.URL) }
