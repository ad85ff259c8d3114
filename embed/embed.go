// Package embed holds the files that are compiled into the program: the seed
// data of a new database. It has no code of its own.
package embed

import "embed"

// Seed is the directory seed: permissions.json (the menus and pages under which
// the routes' permissions are placed) and names.json (the first role, user and
// setting groups, and the words of the builtin settings).
//
//go:embed seed
var Seed embed.FS
