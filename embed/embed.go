// Package embed holds the files that are compiled into the program: the seed
// data of a new database, the passwords that nobody may have, and the console.
package embed

import (
	"embed"
	"strings"
)

// Seed is the directory seed: permissions.json (the menus and pages under which
// the routes' permissions are placed) and names.json (the first role, user and
// setting groups, and the words of the builtin settings).
//
//go:embed seed/*.json
var Seed embed.FS

// Console is the directory dist: the built console, index.html and the compressed
// files that it loads. Its source is in the directory console.
//
//go:embed dist
var Console embed.FS

// common are the 10,000 most common passwords of eight and more characters, the
// most common first, in lower case: from the list of @zxcvbn-ts/language-common
// 4.1.3 (MIT, Dan Wheeler, Dropbox and the zxcvbn-ts authors).
//
//go:embed common-passwords.txt
var common string

// CommonPasswords returns the passwords that nobody may have, in lower case.
func CommonPasswords() map[string]bool {
	set := map[string]bool{}
	for password := range strings.Lines(common) {
		set[strings.TrimSpace(password)] = true
	}
	return set
}
