package setup_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"reeve/auth"
	"reeve/server/servertest"
	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/disk/disktest"
)

// secret is what a command reads from the file of a secret.
func secret(text string) map[string]any { return map[string]any{"secret": text} }

// secretsIn returns the secrets of settings, webhooks and providers, and the hashes of API keys.
func secretsIn(t *testing.T, in *servertest.Instance) (all []string) {
	t.Helper()
	in.View(func(tx *store.Tx) error {
		for hook, err := range store.Webhooks.All(tx) {
			servertest.Must(t, err)
			keys, err := store.WebhookKeysOf(tx, hook.ID)
			servertest.Must(t, err)
			all = append(all, fmt.Sprint("webhook ", hook.ID, keys.Secrets))
		}
		for s, err := range store.KeySecrets.All(tx) {
			servertest.Must(t, err)
			all = append(all, fmt.Sprint("key ", s.KeyID, s.Hash))
		}
		for s, err := range store.SettingSecrets.All(tx) {
			servertest.Must(t, err)
			all = append(all, fmt.Sprint("setting ", s.SettingID, s.Sealed))
		}
		for p, err := range store.Providers.All(tx) {
			servertest.Must(t, err)
			text, err := store.ProviderSecretOf(tx, p.ID)
			servertest.Must(t, err)
			all = append(all, fmt.Sprint("provider ", p.ID, text))
		}
		return nil
	})
	slices.Sort(all)
	return all
}

// TestSetup_FailedJobRestoresSecrets applies large setups whose last steps fail: afterwards all
// objects are as they were, with their secrets.
func TestSetup_FailedJobRestoresSecrets(t *testing.T) {
	t.Parallel()
	old, _, _ := auth.NewKey()
	twice, _, _ := auth.NewKey()
	base := func() map[string]any {
		roles := map[string]any{}
		for i := range 150 {
			roles[fmt.Sprintf("Old %03d", i)] = map[string]any{"sort": i}
		}
		return map[string]any{
			"roles":    roles,
			"webhooks": map[string]any{"erp": map[string]any{"url": "https://example.org/a", "types": []any{"user.*"}, "secret": secret(webhook.NewSecret())}},
			"settings": map[string]any{
				"shop.key":   map[string]any{"type": "secret", "value": secret("first")},
				"shop.ended": map[string]any{"type": "secret", "value": secret("second")},
				"shop.added": map[string]any{"type": "secret", "value": secret("")},
			},
			"providers": map[string]any{"corp": map[string]any{"title": "Corp", "issuer": "https://id.example.org", "client_id": "x", "client_secret": secret("s3cr3t")}},
			"keys":      map[string]any{"shop": map[string]any{"roles": []any{"Old 000"}, "secret": secret(old)}},
		}
	}
	for name, change := range map[string]func(values map[string]any){
		"another URL, and nested objects": func(values map[string]any) {
			departments := map[string]any{}
			path := "Top"
			for i := range 97 { // so many that the settings, the provider and the webhook are the last of a step that succeeds
				if i%8 == 0 {
					path = fmt.Sprint("Branch ", i)
				}
				departments[path] = map[string]any{}
				path += fmt.Sprint("/Level ", i)
			}
			key := map[string]any{"roles": []any{"Old 001"}, "secret": secret(twice)}
			values["departments"], values["keys"] = departments, map[string]any{"shop": values["keys"].(map[string]any)["shop"], "a": key, "b": key}
			values["webhooks"].(map[string]any)["erp"].(map[string]any)["url"] = "https://example.org/b"
			for key, text := range map[string]string{"key": "another", "ended": "", "added": "third"} {
				values["settings"].(map[string]any)["shop."+key].(map[string]any)["value"] = secret(text)
			}
			corp(values)["client_secret"] = secret("another")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := commandLine(t)
			values := base()
			in.OK("POST", "/system/setup/apply", file(t, values, false), "cli")
			change(values)
			before, all, secrets := in.State(), exported(in), secretsIn(t, in)
			if len(secrets) != 5 {
				t.Fatalf("%q", secrets)
			}
			in.Call("POST", "/system/setup/apply", file(t, values, false), "cli").Brief(409, "job_failed")
			after := in.State()
			for record := range before {
				disktest.Equal(t, record, after[record], before[record])
				delete(after, record)
			}
			disktest.Equal(t, "left", slices.Collect(maps.Keys(after)), nil)
			disktest.Equal(t, "export", exported(in), all)
			disktest.Equal(t, "secrets", secretsIn(t, in), secrets)
		})
	}
}

// TestSetup_URLKeepsSecret changes the URL of a webhook, whose secret is in a file.
func TestSetup_URLKeepsSecret(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	apply := func(url string) []string {
		in.OK("POST", "/system/setup/apply", file(t, map[string]any{"webhooks": map[string]any{"erp": map[string]any{
			"url": url, "types": []any{"user.*"}, "secret": secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")}}}, false), "cli")
		return secretsIn(t, in)
	}
	first := apply("https://example.org/a")
	disktest.Equal(t, "after another URL", apply("https://example.org/b"), first)
}
