package cli

import (
	"os"
	"path/filepath"
	"testing"

	"reeve/server/setup"
)

// TestSetupFile_SecretOnlyOfFile sends a secret only if a file has it, so that an object that is
// deleted after the plan is not created with a secret that is in no file.
func TestSetupFile_SecretOnlyOfFile(t *testing.T) {
	t.Parallel()
	text, err := setup.Parse([]byte("keys.new = { secret_file = \"new\" }\nkeys.old = { secret_file = \"old\" }\nkeys.kept = { secret_file = \"kept\" }\n"), 100)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f := &setupFile{path: filepath.Join(dir, "shop.toml"), text: text, Values: text.Values}
	kept := setup.SecretTables()[0].New()
	if err := os.WriteFile(filepath.Join(dir, "kept"), []byte(kept), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.readSecrets(); err != nil {
		t.Fatal(err)
	}
	if err := writeSecrets([]*setupFile{f}, []change{{Kind: "API key", Key: "new", Operation: "create"}}); err != nil {
		t.Fatal(err)
	}
	for key, sent := range map[string]bool{"new": true, "old": false, "kept": true} {
		secret := text.Values["keys"].(map[string]any)[key].(map[string]any)["secret"]
		stored, err := readSecretFile(filepath.Join(dir, key))
		if (secret != nil) != sent || (err == nil) != sent {
			t.Errorf("%s: sent %v, file %v", key, secret != nil, err)
		}
		if given, _ := secret.(map[string]any); sent && given["secret"] != stored {
			t.Errorf("%s: another secret is sent than the file has", key)
		}
	}
}

// TestSetupFile_SecretOfAnotherRun sends the secret that another run has written to the file since the
// plan, and refuses one that is none.
func TestSetupFile_SecretOfAnotherRun(t *testing.T) {
	t.Parallel()
	for _, of := range setup.SecretTables() {
		for _, operation := range []string{"create", "update"} {
			text, err := setup.Parse([]byte(of.Name+".shop = { secret_file = \"secret\" }\n"), 100)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			f := &setupFile{path: filepath.Join(dir, "shop.toml"), text: text, Values: text.Values}
			if err := f.readSecrets(); err != nil {
				t.Fatal(err)
			}

			changes := []change{{Kind: of.Kind, Key: "shop", Operation: operation}}
			written := of.New()
			if err := os.WriteFile(filepath.Join(dir, "secret"), []byte(written+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := writeSecrets([]*setupFile{f}, changes); err != nil {
				t.Fatal(err)
			}
			secret := text.Values[of.Name].(map[string]any)["shop"].(map[string]any)["secret"]
			if given, _ := secret.(map[string]any); given["secret"] != written {
				t.Errorf("%s, %s: another secret is sent than the file has", of.Name, operation)
			}

			if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("half"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := writeSecrets([]*setupFile{f}, changes); err == nil {
				t.Errorf("%s, %s: what is no secret was accepted", of.Name, operation)
			}
		}
	}
}
