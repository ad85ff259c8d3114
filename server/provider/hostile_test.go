package provider_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"reeve/server/outgoing"
	"reeve/server/provider"
	"reeve/server/provider/providertest"
)

// asked is a client of a provider, and how it asks.
type asked struct {
	t      *testing.T
	allow  outgoing.Allow
	client *provider.Client
	config *provider.Config
	idp    *providertest.Provider
}

func ask(t *testing.T) *asked {
	t.Helper()
	allow, err := outgoing.ParseAllow("providers.allow", []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	a := &asked{t: t, allow: allow, idp: providertest.New(t)}
	a.forget()
	a.config = &provider.Config{Issuer: a.idp.URL, ClientID: providertest.ClientID, Secret: providertest.Secret,
		Callback: "http://reeve.example.org/callback"}
	return a
}

// forget replaces the client by one that knows nothing yet, and makes the provider right again.
func (a *asked) forget() *asked {
	a.client = provider.NewClient(a.allow, "test")
	a.t.Cleanup(a.client.Close)
	a.idp.Alter, a.idp.Sign, a.idp.Discover, a.idp.Answer = nil, nil, nil, nil
	return a
}

// signIn goes to the provider and comes back with a query that change may change.
func (a *asked) signIn(change func(url.Values)) (*provider.Claims, error) {
	a.t.Helper()
	return a.signInAs(provider.NewFlow(), change)
}

func (a *asked) signInAs(flow provider.Flow, change func(url.Values)) (*provider.Claims, error) {
	a.t.Helper()
	to, err := a.client.Start(a.t.Context(), a.config, flow, provider.Options{})
	if err != nil {
		return nil, err
	}
	query := a.idp.Authorize(to).Query()
	if change != nil {
		change(query)
	}
	return a.client.Finish(a.t.Context(), a.config, flow, query)
}

// refuses fails unless an error has the words.
func refuses(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("%v, want an error with %q", err, words)
	}
	if err != nil && strings.Contains(err.Error(), providertest.Secret) {
		t.Errorf("the error has the secret: %v", err)
	}
}

// One respect in which the way back is wrong.
func TestHostile_Return(t *testing.T) {
	t.Parallel()
	a := ask(t)
	const state, mixed = "did not begin in this browser", "another provider"
	for name, c := range map[string]struct {
		change func(url.Values)
		words  string
	}{
		"other state":   {func(q url.Values) { q.Set("state", "other") }, state},
		"no state":      {func(q url.Values) { q.Del("state") }, state},
		"other issuer":  {func(q url.Values) { q.Set("iss", "https://other.example.org") }, mixed},
		"no issuer":     {func(q url.Values) { q.Del("iss") }, mixed},
		"no code":       {func(q url.Values) { q.Del("code") }, state},
		"unknown code":  {func(q url.Values) { q.Set("code", "other") }, state},
		"huge query":    {func(q url.Values) { q.Set("code", strings.Repeat("x", 20_000)) }, state},
		"error, iss":    {func(q url.Values) { q.Set("error", "access_denied"); q.Set("iss", "https://x.example") }, mixed},
		"cancelled":     {func(q url.Values) { q.Set("error", "access_denied") }, "cancelled"},
		"error, markup": {func(q url.Values) { q.Set("error", "<b>bad\u202e\x00") }, "with the code bbad;"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := a.signIn(c.change)
			refuses(t, err, c.words)
		})
	}
}

// A provider that does not announce the issuer in its responses still must not send another one.
func TestHostile_IssuerNotAnnounced(t *testing.T) {
	t.Parallel()
	a := ask(t)
	a.idp.Discover = func(d map[string]any) { delete(d, "authorization_response_iss_parameter_supported") }
	if _, err := a.signIn(func(q url.Values) { q.Del("iss") }); err != nil {
		t.Error(err)
	}
	_, err := a.signIn(func(q url.Values) { q.Set("iss", "https://other.example.org") })
	refuses(t, err, "another provider")
}

// A code works once, for the verifier of its flow, at its own provider.
func TestHostile_Codes(t *testing.T) {
	t.Parallel()
	a, other := ask(t), ask(t)
	var used url.Values
	flow := provider.NewFlow()
	if _, err := a.signInAs(flow, func(q url.Values) { used = q }); err != nil {
		t.Fatal(err)
	}
	_, err := a.client.Finish(t.Context(), a.config, flow, used)
	refuses(t, err, "was used already")
	stolen := provider.NewFlow()
	stolen.State = flow.State
	_, err = a.client.Finish(t.Context(), a.config, stolen, used)
	refuses(t, err, "was used already")

	_, err = other.signIn(func(q url.Values) { q.Set("code", used.Get("code")); q.Set("iss", a.idp.URL) })
	refuses(t, err, "another provider")
	other.idp.Sign = func(claims map[string]any) string { // an answer that A has signed
		return a.idp.Token(claims["nonce"].(string))
	}
	_, err = other.signIn(nil)
	refuses(t, err, "signature or form")
}

// One respect in which an ID token is wrong.
func TestHostile_Token(t *testing.T) {
	t.Parallel()
	a := ask(t)
	at := func(name string, by time.Duration) func(map[string]any) {
		return func(c map[string]any) { c[name] = time.Now().Add(by).Unix() }
	}
	set := func(name string, value any) func(map[string]any) {
		return func(c map[string]any) { c[name] = value }
	}
	without := func(name string) func(map[string]any) { return func(c map[string]any) { delete(c, name) } }
	const client, subject, wrongType = "another client", "subject is missing", "wrong type"
	for name, c := range map[string]struct {
		alter func(map[string]any)
		words string
	}{
		"other nonce":      {set("nonce", "other"), "another sign-in"},
		"no nonce":         {without("nonce"), "another sign-in"},
		"other issuer":     {set("iss", "https://other.example.org"), "another issuer"},
		"no issuer":        {without("iss"), "another issuer"},
		"issuer with /":    {func(c map[string]any) { c["iss"] = c["iss"].(string) + "/" }, "another issuer"},
		"other audience":   {set("aud", "other"), client},
		"no audience":      {without("aud"), client},
		"audiences":        {set("aud", []string{providertest.ClientID, "other"}), client},
		"other azp":        {set("azp", "other"), client},
		"audiences, azp":   {func(c map[string]any) { c["aud"] = []string{"reeve", "x"}; c["azp"] = "x" }, client},
		"expired":          {at("exp", -2*time.Minute), "expired"},
		"never expires":    {without("exp"), "expired"},
		"ahead":            {at("iat", 4*time.Minute), "clock is 4 minutes ahead"},
		"old":              {at("iat", -20*time.Minute), "made 20 minutes ago"},
		"signed in later":  {at("auth_time", 4*time.Minute), "clock is 4 minutes ahead"},
		"in 9999 years":    {set("auth_time", 1e15), "ahead"},
		"no subject":       {without("sub"), subject},
		"long subject":     {set("sub", strings.Repeat("x", 256)), subject},
		"long session":     {set("sid", strings.Repeat("x", 256)), "session is too long"},
		"huge":             {set("groups", strings.Repeat("x", 200_000)), "more than 128 KiB"},
		"number as name":   {set("name", 5), wrongType},
		"object as email":  {set("email", map[string]any{"a": 1}), wrongType},
		"two subjects":     {set("SUB", "subject-2"), "other letters"},
		"two verified":     {func(c map[string]any) { c["email_verified"] = false; c["Email_Verified"] = true }, "other letters"},
		"subject, long s":  {set("\u017fub", "subject-2"), "other letters"},
		"number as issuer": {set("iss", 5), "signature or form"},
	} {
		t.Run(name, func(t *testing.T) {
			a.idp.Alter = c.alter
			claims, err := a.signIn(nil)
			refuses(t, err, c.words)
			if claims != nil {
				t.Errorf("claims besides the error: %+v", claims)
			}
		})
	}
}

// A token that is signed in the wrong way.
func TestHostile_Signature(t *testing.T) {
	t.Parallel()
	a := ask(t)
	for name, sign := range map[string]func(*asked, map[string]any) string{
		"none": func(a *asked, c map[string]any) string { return unsigned(a, c, "none") },
		"None": func(a *asked, c map[string]any) string { return unsigned(a, c, "None") },
		"HS256 with the public key": func(a *asked, c map[string]any) string {
			return a.idp.SignWith(jose.SigningKey{Algorithm: jose.HS256, Key: a.idp.PublicKey()}, c)
		},
		"HS256 with the secret": func(a *asked, c map[string]any) string {
			return a.idp.SignWith(jose.SigningKey{Algorithm: jose.HS256, Key: []byte(providertest.Secret + "12345678")}, c)
		},
		"key of another": func(a *asked, c map[string]any) string {
			other := providertest.New(a.t)
			other.Alter = func(all map[string]any) {
				clear(all)
				for name, value := range c {
					all[name] = value
				}
			}
			return other.Token("")
		},
		"other claims": func(a *asked, c map[string]any) string {
			a.idp.Sign = nil
			right := strings.Split(a.idp.Token(""), ".")
			return right[0] + "." + strings.Split(unsigned(a, c, ""), ".")[1] + "." + right[2]
		},
		"no token":  func(*asked, map[string]any) string { return "" },
		"dots":      func(*asked, map[string]any) string { return strings.Repeat(".", 100_000) },
		"not JSON":  func(*asked, map[string]any) string { return "eyJhbGciOiJSUzI1NiJ9.bm90.AAAA" },
		"JSON form": func(*asked, map[string]any) string { return `{"payload":"e30","signatures":[]}` },
	} {
		t.Run(name, func(t *testing.T) {
			a.idp.Sign = func(c map[string]any) string { return sign(a, c) }
			_, err := a.signIn(nil)
			refuses(t, err, "signature or form")
		})
	}
}

// unsigned returns a token with the header that is replaced, and without a signature.
func unsigned(a *asked, claims map[string]any, alg string) string {
	token := a.idp.SignWith(jose.SigningKey{Algorithm: jose.HS256, Key: make([]byte, 32)}, claims)
	return header(alg) + "." + strings.Split(token, ".")[1] + "."
}

// The profile besides the token is bounded, and that of the same person.
func TestHostile_UserInfo(t *testing.T) {
	t.Parallel()
	a := ask(t)
	a.idp.UserInfo = map[string]any{"sub": "subject-2"}
	_, err := a.signIn(nil)
	refuses(t, err, "another person")

	groups := make([]any, 100_000)
	for i := range groups {
		groups[i] = i
	}
	delete(a.idp.Claims, "name")
	delete(a.idp.Claims, "preferred_username")
	a.idp.UserInfo = map[string]any{"groups": groups, "email": "eve@example.org", "email_verified": true,
		"preferred_username": strings.Repeat("u", 100_000), "name": strings.Repeat("n", 100_000)}
	claims, err := a.signIn(nil)
	if err != nil {
		t.Fatal(err)
	}
	if claims.Email != "ann@example.org" || !claims.Has("groups", "99999") || claims.Has("groups", "100000") {
		t.Errorf("address %s", claims.Email)
	}
	if len(claims.Name) > 1024 || len(claims.Username) > 1024 {
		t.Errorf("a name of %d bytes, a username of %d", len(claims.Name), len(claims.Username))
	}
	a.idp.UserInfo["name"] = strings.Repeat("n", 1<<20)
	_, err = a.signIn(nil)
	refuses(t, err, "more than 1024 KiB")
	a.idp.Answer = func(w http.ResponseWriter, path string) bool {
		if path == "/userinfo" {
			w.Write([]byte("<html>"))
		}
		return path == "/userinfo"
	}
	_, err = a.signIn(nil)
	refuses(t, err, "not valid JSON")
}

// Claims of unusual forms neither stop a sign-in nor give anything.
func TestHostile_Groups(t *testing.T) {
	t.Parallel()
	a := ask(t)
	for _, groups := range []any{5, nil, true, map[string]any{"admin": true}, []any{[]any{"admin"}}, "\u202eadmin",
		[]any{"admin ", "Admin", map[string]any{"name": "admin"}}} {
		a.idp.Claims["groups"] = groups
		claims, err := a.signIn(nil)
		if err != nil {
			t.Errorf("%v: %v", groups, err)
		} else if claims.Has("groups", "admin") {
			t.Errorf("%v counts as admin", groups)
		}
	}
}
