package webhook

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// must ends the test on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// verified checks a message with the reference implementation.
func verified(secret string, body []byte, header http.Header) error {
	w, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return err
	}
	return w.Verify(body, header)
}

// The example of the specification's libraries.
func TestSignature_SpecificationExample(t *testing.T) {
	got, err := Sign([]string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
		"msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	must(t, err)
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSignature_ReferenceLibrary(t *testing.T) {
	random := disktest.Random(t)
	for range disktest.Size(20, 100, 1000) {
		body := make([]byte, random.IntN(1000))
		for i := range body {
			body[i] = byte(random.Uint32())
		}

		secrets := []string{NewSecret(), NewSecret()}
		at := time.Now()
		signature, err := Sign(secrets, "msg_1", at, body)
		must(t, err)
		header := http.Header{}
		header.Set("webhook-id", "msg_1")
		header.Set("webhook-timestamp", strconv.FormatInt(at.Unix(), 10))
		header.Set("webhook-signature", signature)
		for _, secret := range secrets {
			must(t, verified(secret, body, header))
		}

		if verified(NewSecret(), body, header) == nil ||
			verified(secrets[0], append(body, ' '), header) == nil {
			t.Error("another secret or another body is verified, too")
		}

		header.Set("webhook-id", "msg_2")
		if verified(secrets[0], body, header) == nil {
			t.Error("another ID is verified, too")
		}
	}
}

func TestSecrets(t *testing.T) {
	of := func(n int) string {
		return secretPrefix + base64.StdEncoding.EncodeToString(make([]byte, n))
	}
	for text, valid := range map[string]bool{
		NewSecret(): true, of(24): true, of(64): true, of(23): false, of(65): false, of(0): false,
		"":                                       false,
		strings.TrimPrefix(of(32), secretPrefix): false, "WHSEC_" + of(32)[6:]: false,
		of(32) + "\n": false, of(25) + "=": false,
		strings.TrimRight(of(25), "="): false, "whsec_" + strings.Repeat("-", 44): false,
		of(32) + " ":                     false,
		of(24)[:20] + "\n" + of(24)[20:]: false,
	} {
		err := CheckSecret(text)
		if valid != (err == nil) ||
			err != nil && errs.Of(err).Fields["secret"].Code() != "webhook_secret_format" {
			t.Errorf("%q: %v", text, err)
		}
		if _, signErr := Sign([]string{NewSecret(), text}, "a", time.Now(), nil); valid != (signErr == nil) {
			t.Errorf("%q signs: %v", text, signErr)
		}
		if err != nil && len(text) > 10 && strings.Contains(err.Error(), text[6:]) {
			t.Errorf("the error has the secret: %v", err)
		}
	}

	if first, second := NewSecret(), NewSecret(); first == second {
		t.Error("two secrets are the same")
	}
	if _, err := Sign(nil, "a", time.Now(), nil); err == nil {
		t.Error("a message without a secret is signed")
	}
}
