package redact

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// secretParts make a name secret wherever they occur in it, whatever separates their
// letters: apiKey, api_key and X-API-Key are equal.
var secretParts = []string{
	"password", "passwd", "passphrase", "pwd", "secret", "token", "authorization", "cookie",
	"credential", "apikey", "accesskey", "signature", "private", "verifier",
	"passcode", "recoverycode", "backupcode", "mfacode", "verificationcode", "onetimecode",
	"passwort", "kennwort", "contraseña", "contrasena", "motdepasse", "senha", "wachtwoord", "密码",
	"口令", "パスワード", "비밀번호", "пароль",
}

// secretWords make a name secret only as a whole word or its plural: key hides Key,
// x-key and signingKey, but not monkey or keywordSearch. Two words are left out on
// purpose: code, which names dictionaries, and session, whose ID grants nothing.
var secretWords = []string{"key", "otp", "totp", "pin", "pass", "auth", "hash", "salt", "jwt",
	"pw", "sig", "mfa"}

// customPrefix begins the names of custom fields, whose values not everybody may read.
const customPrefix = "fields."

// IsSecret reports whether the name of a field, parameter or header suggests a secret
// value, or is that of a custom field. When in doubt it returns true: a sort key hidden
// by mistake costs a look at the source, a logged password compromises the account.
func IsSecret(name string) bool {
	if len(name) > len(customPrefix) && strings.EqualFold(name[:len(customPrefix)], customPrefix) {
		return true
	}

	var space [64]byte
	letters := space[:0]  // letters of the name, in lower case
	fine, coarse := 0, 0  // start of the current word; coarse treats PINs as one word, fine splits APIKey in two
	var last, before rune // the two preceding characters
	word := func() bool {
		return secretWord(letters[fine:]) || secretWord(letters[coarse:])
	}
	for _, c := range name {
		lower, upper := unicode.ToLower(unicode.ToUpper(c)), unicode.IsUpper(c) // folds ſ to s, like encoding/json
		isLetter := unicode.IsLetter(c)
		switch {
		case !isLetter || upper && unicode.IsLower(last):
			if word() {
				return true
			}
			fine, coarse = len(letters), len(letters)
		case !upper && unicode.IsUpper(last) && unicode.IsUpper(before):
			_, size := utf8.DecodeLastRune(letters)
			if head := letters[fine : len(letters)-size]; secretWord(head) {
				return true
			}
			fine = len(letters) - size
		}

		if isLetter {
			letters = utf8.AppendRune(letters, lower)
		}

		before, last = last, c
	}

	if word() {
		return true
	}

	text := string(letters)
	return slices.ContainsFunc(secretParts, func(part string) bool {
		return strings.Contains(text, part)
	})
}

func secretWord(word []byte) bool {
	if len(word) < 2 || len(word) > 5 {
		return false
	}
	for _, w := range secretWords {
		if string(word) == w ||
			len(word) == len(w)+1 && word[len(w)] == 's' && string(word[:len(w)]) == w {
			return true
		}
	}
	return false
}
