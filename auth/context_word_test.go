package auth

import (
	"os"
	"strings"
	"testing"

	"reeve/store/errs"
)

func TestContextWords_Refused(t *testing.T) {
	for password, refused := range map[string]bool{
		"reeve2026": true, "Reeve-2026": true, "reevereeve": true, "ada.lovelace": true,
		"ADA.LOVELACE1": true, "acme2026": true, "AcmeAdmin1": true, "!widgets!!": true,
		"reeve and the tomatoes": false, "acme 12345": false, "correct horse": false,
		"a widget of mine": false, "ad4.lovel4ce": false,
	} {
		err := Options{}.check("ada.lovelace", "Acme Widgets – Admin", "password", password, 8)
		if got := err != nil; got != refused {
			t.Errorf("%q: %v", password, err)
		}
	}
	if err := (Options{}).check("ab", "X", "password", "absolutely ab", 8); err != nil {
		t.Errorf("short words: %v", err)
	}
	if err := (Options{}).check("ada.lovelace", "", "password", "reeve2026", 8); errs.Of(err).Code != "password_contextual" {
		t.Errorf("%v", err)
	}
}

// TestContextWords_ListedInManual checks the list that ASVS V6.1.2 requires.
func TestContextWords_ListedInManual(t *testing.T) {
	text, err := os.ReadFile("../embed/manual/security.md")
	must(t, err)
	for _, word := range []string{"the username", "the words of `site.title`", "`reeve`"} {
		if !strings.Contains(string(text), word) {
			t.Errorf("the manual does not list %s", word)
		}
	}
}
