package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"reeve/auth/passkeytest"
)

// What the connections of BenchmarkLoginFlood do.

// asker sends a request with a token, "" for none, from an address. It returns the response, with
// status 0 if there is none.
type asker func(path, token, address, body string) (status int, answer []byte)

// attack is a round of what one connection does.
type attack func(ask asker)

// prepare makes what an attack needs. c is the owner.
type prepare func(b *testing.B, p *process, c *client) attack

// posts is an attack by one request from an address with a body that has not been sent before.
func posts(path string, address, body func() string) prepare {
	return func(*testing.B, *process, *client) attack {
		return func(ask asker) { ask(path, "", address(), body()) }
	}
}

func oneAddress() string { return "10.0.0.0" }

// anyAddress returns one of 16 million addresses.
func anyAddress() string {
	n := rand.Uint32()
	return fmt.Sprintf("10.%d.%d.%d", n>>16&255, n>>8&255, n&255)
}

// victims are so many that the limits by user do not end the attack: with 50 tries, 200 from all
// addresses within the time that failures are counted.
const victims = 16

// victims signs users in, and lets as many attempts fail as the settings allow.
func (c *client) victims(p *process, do func(name string, of *client)) {
	c.t.Helper()
	c.want(200, "PUT", "/system/setting",
		values("security.login_tries", 50, "security.login_window_minutes", 5))
	for i := range victims {
		name := fmt.Sprint("victim", i)
		do(name, c.holder(p, name))
	}
}

// wrongCodes knows the passwords of users with an authenticator app: it signs in, and tries as many
// codes as one sign-in allows.
func wrongCodes(b *testing.B, p *process, c *client) attack {
	var names []string
	c.victims(p, func(name string, of *client) {
		of.factor()
		names = append(names, name)
	})
	return func(ask asker) {
		address := anyAddress()
		status, answer := ask("/admin/login", "", address,
			object("username", names[rand.IntN(len(names))], "password", password))
		if status != 200 {
			return
		}

		var pending struct {
			Data struct {
				Token string `json:"login_token"`
			}
		}
		if err := json.Unmarshal(answer, &pending); err != nil || pending.Data.Token == "" {
			b.Errorf("%v in %s", err, answer)
			return
		}

		for range 5 {
			ask("/admin/login/totp", "", address,
				object("login_token", pending.Data.Token, "otp", "123456"))
		}
	}
}

// wrongSignatures knows a passkey of the owner, and a challenge of the server, but has the
// signature of other data.
func wrongSignatures(b *testing.B, _ *process, c *client) attack {
	type options struct {
		PublicKey json.RawMessage `json:"public_key"`
	}
	key := passkeytest.New(benchURL, "localhost")
	made := key.Create(into[options](b, c.want(200, "GET", "/admin/account/passkey-options", "")).PublicKey)
	c.want(200, "POST", "/admin/account/passkey", object("credential", json.RawMessage(made)))
	challenge := into[options](b, c.want(200, "GET", "/admin/login/passkey", "")).PublicKey
	var right, other map[string]any
	for _, into := range []*map[string]any{&right, &other} {
		if err := json.Unmarshal(key.Get(challenge), into); err != nil {
			b.Fatal(err)
		}
	}

	right["response"].(map[string]any)["signature"] = other["response"].(map[string]any)["signature"]
	body := object("credential", right)
	return func(ask asker) { ask("/admin/login/passkey", "", anyAddress(), body) }
}

// wrongConfirmations has the tokens of users, and not their passwords. Sessions are bound to the
// network of the sign-in.
func wrongConfirmations(_ *testing.B, p *process, c *client) attack {
	var tokens []string
	c.victims(p, func(_ string, of *client) { tokens = append(tokens, of.token) })
	return func(ask asker) {
		ask("/admin/reauth", tokens[rand.IntN(len(tokens))], "127.0.0.1",
			object("password", fmt.Sprintf("wrong %d", rand.Uint64())))
	}
}
