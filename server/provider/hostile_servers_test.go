package provider_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"reeve/server/provider"
	"reeve/server/provider/providertest"
)

// header returns the header of a token with an algorithm.
func header(alg string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"alg":%q}`, alg))
}

// What a provider says of itself is wrong.
func TestHostile_Discovery(t *testing.T) {
	t.Parallel()
	a := ask(t)
	const incomplete = "lacks an endpoint"
	for name, c := range map[string]struct {
		field string
		value any
		words string
	}{
		"other issuer":    {"issuer", "https://other.example.org", "calls itself https://other.example.org;"},
		"markup, bidi":    {"issuer", "https://x\u202e\x00\n.example", "calls itself https://x.example;"},
		"number":          {"issuer", 5, "not valid JSON"},
		"huge":            {"x", strings.Repeat("x", 2<<20), "more than 1024 KiB"},
		"http token":      {"token_endpoint", "http://8.8.8.8/token", incomplete},
		"private token":   {"token_endpoint", "https://10.0.0.1/token", incomplete},
		"metadata":        {"jwks_uri", "http://169.254.169.254/latest", incomplete},
		"file keys":       {"jwks_uri", "file:///etc/passwd", incomplete},
		"script":          {"authorization_endpoint", "javascript:alert(1)", incomplete},
		"no token":        {"token_endpoint", "", incomplete},
		"user in address": {"token_endpoint", "https://a:b@example.org/", incomplete},
	} {
		t.Run(name, func(t *testing.T) {
			a.forget()
			a.idp.Discover = func(d map[string]any) { d[c.field] = c.value }
			_, err := a.signIn(nil)
			refuses(t, err, c.words)
		})
	}
}

// No step follows a redirect, which could carry the secret or a token to another host.
func TestHostile_Redirects(t *testing.T) {
	t.Parallel()
	a := ask(t)
	for _, path := range []string{"/.well-known/openid-configuration", "/keys", "/token", "/userinfo"} {
		for _, status := range []int{302, 307, 308} {
			a.forget()
			var followed atomic.Int32
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
			t.Cleanup(other.Close)
			a.idp.Answer = func(w http.ResponseWriter, asked string) bool {
				if asked == path {
					w.Header().Set("Location", other.URL)
					w.WriteHeader(status)
				}
				return asked == path
			}
			_, err := a.signIn(nil)
			refuses(t, err, fmt.Sprint("answered with the status ", status))
			if followed.Load() != 0 {
				t.Errorf("%s: the redirect %d was followed", path, status)
			}
		}
	}
}

// Huge answers are not read to the end, and slow ones not waited for.
func TestHostile_Answers(t *testing.T) {
	t.Parallel()
	a := ask(t)
	for _, path := range []string{"/.well-known/openid-configuration", "/keys", "/token", "/userinfo"} {
		a.forget()
		var sent atomic.Int64
		a.idp.Answer = func(w http.ResponseWriter, asked string) bool {
			for asked == path {
				n, err := w.Write([]byte(strings.Repeat(" ", 64<<10)))
				if sent.Add(int64(n)); err != nil || sent.Load() > 64<<20 {
					break
				}
			}
			return asked == path
		}
		_, err := a.signIn(nil)
		refuses(t, err, map[bool]string{true: "not valid JSON", false: "more than 1024 KiB"}[path == "/token"])
		if sent.Load() > 32<<20 {
			t.Errorf("%s: %d bytes were read", path, sent.Load())
		}
	}
	for _, path := range []string{"/.well-known/openid-configuration", "/token", "/userinfo"} {
		a.forget()
		a.idp.Answer = func(w http.ResponseWriter, asked string) bool {
			if asked != path {
				return false
			}
			w.Write([]byte("{"))
			w.(http.Flusher).Flush()
			time.Sleep(300 * time.Millisecond)
			return true
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		flow := provider.NewFlow()
		to, err := a.client.Start(ctx, a.config, flow, provider.Options{})
		if err == nil {
			_, err = a.client.Finish(ctx, a.config, flow, a.idp.Authorize(to).Query())
		}
		cancel()
		refuses(t, err, "did not answer in time")
	}
}

// counted counts the requests for the keys.
func counted(a *asked) *atomic.Int32 {
	n := &atomic.Int32{}
	a.idp.Answer = func(_ http.ResponseWriter, path string) bool {
		if path == "/keys" {
			n.Add(1)
		}
		return false
	}
	return n
}

// A flood of tokens with unknown keys makes one request, and so does a rotation.
func TestHostile_Keys(t *testing.T) {
	t.Parallel()
	a := ask(t)
	n := counted(a)
	if _, err := a.signIn(nil); err != nil {
		t.Fatal(err)
	}
	forged := providertest.New(t)
	forged.Alter = func(c map[string]any) { c["iss"] = a.idp.URL }
	for range 50 {
		_, err := a.client.Logout(t.Context(), a.config, forged.LogoutToken("x"))
		refuses(t, err, "signature or form")
	}
	if n.Load() != 1 {
		t.Errorf("%d requests for the keys, want 1", n.Load())
	}
	if _, err := a.signIn(nil); err != nil {
		t.Errorf("after the flood: %v", err)
	}
	a.idp.Rotate()
	provider.PassKeys(a.client, a.idp.URL, 6*time.Second) // past the pause
	if _, err := a.signIn(nil); err != nil || n.Load() != 2 {
		t.Errorf("after the rotation: %v, %d requests", err, n.Load())
	}
}

// Keys that could not be fetched again are not good for another hour, and somebody who goes away
// does not keep others from them.
func TestHostile_KeysGone(t *testing.T) {
	t.Parallel()
	a := ask(t)
	if _, err := a.signIn(nil); err != nil {
		t.Fatal(err)
	}
	provider.PassKeys(a.client, a.idp.URL, 2*time.Hour)
	a.idp.Answer = func(w http.ResponseWriter, path string) bool {
		if path == "/keys" {
			w.WriteHeader(500)
		}
		return path == "/keys"
	}
	for range 2 {
		_, err := a.signIn(nil)
		refuses(t, err, "status 500")
	}

	a.idp.Answer = nil
	provider.PassKeys(a.client, a.idp.URL, 6*time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.client.Logout(ctx, a.config, a.idp.LogoutToken("x")); err != nil {
		t.Errorf("a request that was given up: %v", err)
	}
	if _, err := a.signIn(nil); err != nil {
		t.Errorf("after a request that was given up: %v", err)
	}
}

// A document of keys has symmetric and huge keys, which are not used, and the right one.
func TestHostile_KeyDocument(t *testing.T) {
	t.Parallel()
	a := ask(t)
	secret := []byte(strings.Repeat("s", 32))
	huge := base64.RawURLEncoding.EncodeToString([]byte(strings.Repeat("\xff", 2000)))
	a.idp.Answer = func(w http.ResponseWriter, path string) bool {
		if path == "/keys" {
			json.NewEncoder(w).Encode(map[string]any{"keys": []any{
				jose.JSONWebKey{Key: secret, Algorithm: "HS256"}, map[string]any{"kty": "x"},
				map[string]any{"kty": "RSA", "n": huge, "e": "AQAB"}}})
		}
		return path == "/keys"
	}
	a.idp.Sign = func(c map[string]any) string {
		return a.idp.SignWith(jose.SigningKey{Algorithm: jose.HS256, Key: secret}, c)
	}
	_, err := a.signIn(nil)
	refuses(t, err, "signature or form")
	if n := provider.CountKeys(a.client, a.idp.URL); n != 0 {
		t.Errorf("%d keys are used", n)
	}
}

// RSA keys that are shorter than 2048 bits, or huge, check no signatures.
func TestHostile_KeySizes(t *testing.T) {
	t.Parallel()
	for bits, used := range map[int]int{1024: 0, 2040: 0, 2048: 1, 4096: 1, 4104: 0} {
		a := ask(t)
		number := base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{0xff}, bits/8))
		a.idp.Answer = func(w http.ResponseWriter, path string) bool {
			if path == "/keys" {
				json.NewEncoder(w).Encode(map[string]any{"keys": []any{map[string]any{"kty": "RSA", "n": number, "e": "AQAB"}}})
			}
			return path == "/keys"
		}
		_, err := a.signIn(nil)
		refuses(t, err, "signature or form")
		if n := provider.CountKeys(a.client, a.idp.URL); n != used {
			t.Errorf("%d bits: %d keys are used, want %d", bits, n, used)
		}
	}
}

// A key of 1024 bits makes no signature that is accepted.
func TestHostile_ShortKey(t *testing.T) {
	t.Parallel()
	a := ask(t)
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	a.idp.Answer = func(w http.ResponseWriter, path string) bool {
		if path == "/keys" {
			json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, Algorithm: "RS256"}}})
		}
		return path == "/keys"
	}
	a.idp.Sign = func(c map[string]any) string {
		payload, _ := json.Marshal(c)
		return signRaw(t, key, payload)
	}
	_, err = a.signIn(nil)
	refuses(t, err, "signature or form")
}

// signRaw returns a token with a payload as it is.
func signRaw(t *testing.T, key *rsa.PrivateKey, payload []byte) string {
	t.Helper()
	text := header("RS256") + "." + base64.RawURLEncoding.EncodeToString(payload)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// A payload that is not what package json would write.
func TestHostile_Payload(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	level := strings.Repeat("[", 5_000) + `"admin"` + strings.Repeat("]", 5_000)
	for name, c := range map[string]struct{ more, words string }{
		"as it is":         {`"x":1`, ""},
		"two subjects":     {`"sub":"subject-2"`, "sub is there twice"},
		"same subject":     {`"sub":"subject-1"`, "sub is there twice"},
		"escaped subject":  {`"\u0073ub":"subject-2"`, "sub is there twice"},
		"two addresses":    {`"email":null`, "email is there twice"},
		"two audiences":    {`"aud":"other"`, "another client"},
		"deep groups":      {`"groups":` + deep, "signature or form"},
		"groups in groups": {`"groups":` + level, ""},
		"100,000 groups":   {`"groups":["x"` + strings.Repeat(`,"x"`, 99_999) + `]`, "more than 128 KiB"},
		"two other claims": {`"x":1,"x":2`, ""},
	} {
		a := ask(t)
		a.idp.Answer = func(w http.ResponseWriter, path string) bool {
			if path == "/keys" {
				json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, Algorithm: "RS256"}}})
			}
			return path == "/keys"
		}
		a.idp.Sign = func(claims map[string]any) string {
			payload, _ := json.Marshal(claims)
			return signRaw(t, key, []byte(string(payload[:len(payload)-1])+","+c.more+"}"))
		}
		claims, err := a.signIn(nil)
		if c.words != "" {
			refuses(t, err, c.words)
		} else if err != nil || claims.Has("groups", "admin") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Logout tokens that are none.
func TestHostile_Logout(t *testing.T) {
	t.Parallel()
	a := ask(t)
	const none, subject = "no logout token", "subject is missing"
	for name, c := range map[string]struct {
		alter func(map[string]any)
		words string
	}{
		"nonce":        {func(c map[string]any) { c["nonce"] = "" }, none},
		"no events":    {func(c map[string]any) { delete(c, "events") }, none},
		"other events": {func(c map[string]any) { c["events"] = map[string]any{"x": map[string]any{}} }, none},
		"event text": {func(c map[string]any) {
			c["events"] = map[string]any{"http://schemas.openid.net/event/backchannel-logout": "x"}
		}, none},
		"audience": {func(c map[string]any) { c["aud"] = "other" }, "another client"},
		"issuer":   {func(c map[string]any) { c["iss"] = "https://other.example.org" }, "another issuer"},
		"nobody":   {func(c map[string]any) { delete(c, "sub"); delete(c, "sid") }, subject},
		"no ID":    {func(c map[string]any) { delete(c, "jti") }, subject},
		"expired":  {func(c map[string]any) { c["exp"] = time.Now().Unix() - 100 }, "expired"},
		"old":      {func(c map[string]any) { c["iat"] = time.Now().Unix() - 3600 }, "made 60 minutes ago"},
		"no times": {func(c map[string]any) { delete(c, "exp"); delete(c, "iat") }, "made"},
	} {
		a.forget()
		a.idp.Alter = c.alter
		out, err := a.client.Logout(t.Context(), a.config, a.idp.LogoutToken("x"))
		if refuses(t, err, c.words); out != nil {
			t.Errorf("%s: %+v besides the error", name, out)
		}
	}
	a.forget()
	_, err := a.client.Logout(t.Context(), a.config, a.idp.Token(""))
	refuses(t, err, none)
}

// Ory Hydra's have the session alone, and no expiry, as in drafts of the standard.
func TestLogout_Forms(t *testing.T) {
	t.Parallel()
	a := ask(t)
	for name, alter := range map[string]func(map[string]any){
		"no expiry":    func(c map[string]any) { delete(c, "exp") },
		"session":      func(c map[string]any) { delete(c, "sub") },
		"person":       func(c map[string]any) { delete(c, "sid") },
		"of Ory Hydra": func(c map[string]any) { delete(c, "exp"); delete(c, "sub"); c["aud"] = []string{providertest.ClientID} },
	} {
		a.idp.Alter = alter
		out, err := a.client.Logout(t.Context(), a.config, a.idp.LogoutToken("x"))
		if err != nil || out.ID != "x" || out.SID == "" && out.Subject == "" {
			t.Errorf("%s: %+v %v", name, out, err)
		}
	}
}

// Signing out there needs no request from here: the address is that of the sign-in.
func TestLogoutURL(t *testing.T) {
	t.Parallel()
	a := ask(t)
	claims, err := a.signIn(nil)
	if err != nil {
		t.Fatal(err)
	}
	a.idp.Answer = func(http.ResponseWriter, string) bool { t.Error("a request"); return false }
	got := claims.LogoutURL(a.config, "http://reeve.example.org/")
	if !strings.HasPrefix(got, a.idp.URL+"/end?") || !strings.Contains(got, "id_token_hint=ey") ||
		!strings.Contains(got, "post_logout_redirect_uri=http%3A%2F%2Freeve.example.org%2F") {
		t.Errorf("%s", got)
	}
}
