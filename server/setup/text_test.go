package setup_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server/servertest"
	"reeve/server/setup"
	"reeve/server/web"
	"reeve/server/webhook"
	"reeve/store/disk/disktest"
)

// texts returns the body of a request with files as text, by turns their names and texts.
func texts(t *testing.T, files ...string) string {
	all := []any{}
	for i := 0; i < len(files); i += 2 {
		all = append(all, map[string]any{"name": files[i], "text": files[i+1]})
	}
	return string(servertest.EncodeJSON(t, map[string]any{"files": all}))
}

// TestText_FaultsNameLines sends files that are wrong: each error names the line.
func TestText_FaultsNameLines(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	before := in.Dump()
	many := strings.Repeat("\"%d\" = {}\n", 20_000)
	for text, want := range map[string]string{
		"[roles]\nA = [\n":                                                                   "line 2, column 6: toml: ",
		"roles.A = {}\nroles.A = {}\n":                                                       "line 2, column 1: toml: ",
		"\ufeff[roles.A]\n\nsort = nan":                                                      "line 3 roles.A.sort: must be a finite number",
		"[rolls.A]":                                                                          "line 1 rolls: unknown table; did you mean roles?",
		"# none\n[roles.A]\nsort = 1\ncolour = 2":                                            "line 4 roles.A.colour: unknown field",
		"[roles]\nA = { sort = 1,\n colour = 2 }":                                            "line 3 roles.A.colour: unknown field",
		"roles.A.permissions = [\n \"system.info\",\n \"no.such\",\n]":                       `line 3 roles.A.permissions[1]: permission "no.such" not found`,
		"[settings]\n'shop.vat'.type = \"colour\"":                                           "line 2 settings.shop.vat.type: must be one of",
		"[dictionaries.d]\nname = \"D\"\nitems = [\"a\",\n\"a\"]":                            "line 3 dictionaries.d.items.a: is given twice",
		"[keys.k]\nroles = []\nsecret = \"rvk_x\"":                                           "line 3 keys.k.secret: a secret must not be in the file",
		"[keys.k]\nsecret_file = 7":                                                          "line 2 keys.k.secret_file: must be the path of a file",
		"[settings]\n'a.b' = { type = 'secret', value.secret = 'env:HOME'}":                  "line 2 settings.a.b.value: only the command reads secrets",
		"[webhooks.w]\nurl = { secret = 'file:/etc/passwd' }":                                "line 2 webhooks.w.url: only the command reads secrets",
		"[[dictionaries.d.items]]\nvalue='a'\n[[dictionaries.d.items]]\nvalue='b'\nsort=nan": "line 5 dictionaries.d.items[1].sort: must be a finite number",
		"roles.A.sort = 07:32:00":                                                            "line 1 roles.A.sort: must not be a date",
		"roles.A" + strings.Repeat(".a", 40) + " = 1":                                        "line 1 roles.A.a.a.",
		"[roles]\n" + fmt.Sprintf(many, numbered(20_000)...):                                 "the file must have at most 20000 values",
		"#" + strings.Repeat("x", 512<<10):                                                   "files[0].text: must be at most 524288 bytes",
		strings.Repeat("a=[", 100_000):                                                       "line 1, column ",
	} {
		for _, path := range []string{"plan", "apply"} {
			a := in.Call("POST", "/system/setup/"+path, texts(t, "shop", text), "cli")
			all := a.Envelope().Msg + "\n"
			for field, fault := range a.Envelope().Errors {
				all += field + ": " + fault + "\n"
			}
			if a.Code != 422 && a.Code != 400 || !strings.Contains(all, want) {
				t.Errorf("%s %.80q: %d %.400s, want %q", path, text, a.Code, a.Body, want)
			}
		}
	}

	in.Call("POST", "/system/setup/plan", texts(t, "a", "roles.A = {}", "b", "\nroles.B.x = 1"), "cli").Brief(422, `"b: line 2 roles.B.x":"unknown field"`)
	in.Call("POST", "/system/setup/plan", texts(t, "a", "roles.A = {}", "b", "\nroles.B = "), "cli").Brief(422, `"b: line 2, column 10"`)
	in.Call("POST", "/system/setup/plan", `{"files":[{"name":"a"}]}`, "cli").Brief(422, `"files[0].values":"is required"`)
	in.Call("POST", "/system/setup/plan", `{"files":[{"name":"a","text":"","values":{}}]}`, "cli").Brief(422, `"files[0].text"`)
	half := fmt.Sprintf("[roles]\n"+many[:len(many)/2], numbered(10_000)...)
	in.Call("POST", "/system/setup/plan", texts(t, "a", half, "b", half), "cli").Brief(400, "at most 20000 values")
	in.Unchanged(before)
}

func numbered(n int) (all []any) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// TestText_OwnersOnly sends texts without the owner role, which are not read.
func TestText_OwnersOnly(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	in.Clerk("clerk", "system.setup.query", "system.setup.apply")
	in.Clerk("none")
	for _, path := range []string{"plan", "apply"} {
		for _, text := range []string{"roles.A = {}", "roles.A = "} {
			in.Call("POST", "/system/setup/"+path, texts(t, "shop", text), "clerk").Brief(403, "owner_required")
			in.Call("POST", "/system/setup/"+path, texts(t, "shop", text), "none").Brief(403, "system.setup.")
		}
	}
	in.Call("GET", "/system/setup-export", "", "clerk").Brief(403, "owner_required")
	in.Call("GET", "/system/setup-export", "", "none").Brief(403, "system.setup.query")
}

// TestText_NewSecretsOnce applies a text with an API key and a webhook: the response has their
// secrets, and nothing else does.
func TestText_NewSecretsOnce(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	const text = "roles.R.permissions = ['system.info']\n" +
		"[keys]\nci = { roles = ['R'], secret_file = 'ci.secret' }\nother = { roles = ['R'] }\n" +
		"[webhooks.erp]\nurl = 'https://example.org/hook'\ntypes = ['user.*']\n" +
		"[settings]\n'shop.key' = { type = 'secret', value = 'typed-s3cr3t' }\n"
	in.OK("POST", "/system/setup/plan", texts(t, "shop", text), "owner")
	a := in.OK("POST", "/system/setup/apply", texts(t, "shop", text), "owner")
	var out struct {
		Secrets []struct{ Kind, Key, Secret string }
	}
	if a.Data(&out); len(out.Secrets) != 3 {
		t.Fatalf("%s", a.Body)
	}
	hidden := []string{"typed-s3cr3t"}
	for i, want := range []string{"webhook erp", "API key ci", "API key other"} {
		s := out.Secrets[i]
		if hidden = append(hidden, s.Secret); s.Kind+" "+s.Key != want {
			t.Errorf("secret %d is that of %s %s, want %s", i, s.Kind, s.Key, want)
		}
		if _, _, is := auth.KeyHash(s.Secret); is != (s.Kind == "API key") || !is && webhook.CheckSecret(s.Secret) != nil {
			t.Errorf("the %s has the secret %s", s.Kind, s.Secret)
		}
	}
	in.Tokens["ci"] = out.Secrets[1].Secret
	in.OK("GET", "/system/info", "", "ci")

	again := in.OK("POST", "/system/setup/apply", texts(t, "shop", text), "owner")
	if changes := changesOf(again); len(changes) > 0 {
		t.Errorf("the second time it changed %q", changes)
	}
	in.Call("POST", "/system/setup/apply", texts(t, "shop", text+"x = "), "owner").Brief(422)
	answers := []string{again.Body}
	for _, path := range []string{
		"/system/setup", "/system/setup-export", "/system/audit?pageSize=1000", "/system/job", "/admin/key", "/system/webhook",
		"/system/monitor/request?pageSize=1000", "/system/monitor/query?pageSize=1000", "/system/setting?pageSize=1000",
	} {
		answers = append(answers, in.OK("GET", path, "", "owner").Body)
	}
	for seq := range in.NewestEntry() {
		answers = append(answers, in.OK("GET", fmt.Sprint("/system/audit/", seq+1), "", "owner").Body)
	}
	for _, answer := range answers {
		for _, secret := range hidden {
			if strings.Contains(answer, secret) {
				t.Errorf("%.300s has %s", answer, secret)
			}
		}
	}
	if !strings.Contains(strings.Join(answers, ""), "/system/setup/apply") {
		t.Error("monitoring has no request")
	}
}

// TestText_LargeHasSecrets applies a text by a job: the key that it makes is that of the response.
func TestText_LargeHasSecrets(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	var text strings.Builder
	text.WriteString("keys.ci.roles = ['R0']\n")
	for i := range 150 {
		fmt.Fprintf(&text, "roles.R%d.permissions = ['system.info']\n", i)
	}
	var out struct {
		Job     *struct{ State string }
		Secrets []struct{ Secret string }
	}
	in.OK("POST", "/system/setup/apply", texts(t, "shop", text.String()), "owner").Data(&out)
	if out.Job == nil || out.Job.State != "done" || len(out.Secrets) != 1 {
		t.Fatalf("%+v", out)
	}
	in.Tokens["ci"] = out.Secrets[0].Secret
	in.OK("GET", "/system/info", "", "ci")
}

// TestText_ExportPlansNothing plans the exported files of random states: nothing would change. Applied
// to an empty installation, they are exported there as they are.
func TestText_ExportPlansNothing(t *testing.T) {
	t.Parallel()
	r := disktest.Random(t)
	for range servertest.Size(3, 10, 100) {
		in := commandLine(t)
		in.OK("POST", "/system/setup/apply", file(t, servertest.RandomSetup(r), false), "cli")
		a := in.OK("GET", "/system/setup-export", "", "owner")
		if got := a.Header.Get("Content-Disposition"); got != `attachment; filename="setup.toml"` {
			t.Errorf("Content-Disposition: %s", got)
		}
		left := changesOf(in.OK("POST", "/system/setup/plan", texts(t, "setup", a.Body), "owner"))
		if len(left) > 0 {
			t.Fatalf("it would change %q\n%s", left, a.Body)
		}
		to := commandLine(t)
		to.OK("POST", "/system/setup/apply", texts(t, "setup", a.Body), "cli") // owners have no second factor
		disktest.Equal(t, "the exported file of the copy", to.OK("GET", "/system/setup-export", "", "owner").Body, a.Body)
	}
}

// FuzzParse: a text is refused with an error, or has values of which each has a line.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"", "a.b = 1", "[a]\nb = [{c = 1}, [2, 3]]\n[[d.e]]\nf = '''x\n'''", "\ufeff'a b'.\"c\" = 2020-01-01T00:00:00Z", "a = {b = {c.d = [\n1]}}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		parsed, err := setup.Parse(text, web.MaxValues)
		if err != nil {
			return
		}
		for table := range parsed.Values {
			if line, _ := parsed.Line(table); line < 1 || line > 1+strings.Count(string(text), "\n") {
				t.Errorf("%q is in line %d of %q", table, line, text)
			}
		}
	})
}
