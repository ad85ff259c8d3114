// Package embed holds the files that are compiled into the program: the seed data of a
// new database, the list of rejected passwords, the console, the manual, the client
// libraries, and the texts of email.
//
// Seed, Console, Manual, SDK and Mail are file systems, from which fs.Sub takes the directory; the
// list is read with CommonPasswords. The package imports nothing of the program, so that
// every layer can use it.
//
//	files, err := fs.Sub(embed.Seed, "seed")
package embed

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"strings"
)

// Seed contains the directory seed: permissions.json (the menus and pages under which
// the routes' permissions are placed) and names.json (the first role, user and setting
// groups, and the texts of the built-in settings).
//
//go:embed seed/*.json
var Seed embed.FS

// Console contains the directory dist: the built console, that is, index.html and the
// compressed files that it loads. Its source is in the directory console.
//
//go:embed dist
var Console embed.FS

// Manual is the directory manual: the topics of the manual in Markdown, and in the directory zh those
// that are translated. The pictures next to them belong to the README and are not compiled in.
//
//go:embed manual/*.md manual/zh/*.md
var Manual embed.FS

// Pages is the directory pages: the frame, the texts and the script of the pages for people without
// the console.
//
//go:embed pages
var Pages embed.FS

// SDK is the directory sdk: the client libraries that the program serves, and their license. The types of
// the API are compressed, which saves 180 kB of the program.
//
//go:embed sdk/LICENSE sdk/typescript/package.json sdk/typescript/README.md sdk/typescript/api.d.ts.gz sdk/typescript/dist sdk/go/*.go sdk/go/reevetest/*.go
var SDK embed.FS

// Mail contains the directory mail: the texts of the messages that the program sends by
// email, and the layout of their HTML. Package server/mail describes the format.
//
//go:embed mail/*.txt mail/layout.html
var Mail embed.FS

// common is the 10,000 most common passwords of eight and more characters, most common
// first, in lower case. Source: the list of @zxcvbn-ts/language-common 4.1.3 (MIT, Dan
// Wheeler, Dropbox and the zxcvbn-ts authors; see common-passwords.LICENSE).
//
//go:embed common-passwords.txt.gz
var common []byte

// notice is the text of NOTICE, compressed: it is read by few, and would be 70 kB of the program.
//
//go:embed NOTICE.gz
var notice []byte

// Notice returns the text that names the software in the program, with its licenses.
func Notice() (string, error) {
	return unpack(notice)
}

func unpack(packed []byte) (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// CommonPasswords returns the set of rejected passwords, in lower case.
func CommonPasswords() map[string]bool {
	text, err := unpack(common)
	if err != nil {
		panic(err) // it is compiled in, and a test unpacks it
	}
	set := map[string]bool{}
	for password := range strings.Lines(text) {
		set[strings.TrimSpace(password)] = true
	}
	return set
}
