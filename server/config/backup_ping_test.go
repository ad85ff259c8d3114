package config

import (
	"slices"
	"testing"
)

// TestPingURL_NeverRequested warns of a monitor that waits for copies that can't be proven.
func TestPingURL_NeverRequested(t *testing.T) {
	const ping = "[backup]\nping_url = \"https://monitor.example.org/1\"\n"
	const command = "[backup.pipe]\ncommand = [\"true\"]\n"
	for text, warned := range map[string]bool{
		ping:                     false, // the copies in the data directory
		ping + "local = false\n": true,
		ping + command:           true,
		command:                  false,
		ping + command + "[backup.nas]\npath = \"/mnt/nas\"\n": false,
	} {
		c, err := Load(fileOf(t, text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(c.Warnings, unpinged) != warned {
			t.Errorf("%s: %q", text, c.Warnings)
		}
	}
}
