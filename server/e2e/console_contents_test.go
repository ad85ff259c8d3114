package e2e

import "testing"

// TestConsoleContents moves the contents of files to the bucket and back.
func TestConsoleContents(t *testing.T) {
	t.Parallel()
	b := newBucketed(t, 64<<20, true)
	server, c := b.start(t)
	p := signedInAt(t, server, c, "/system/info")
	p.see("Uploads go to the bucket.")
	p.click("button", "Move to the data directory")
	p.see("Move the contents of all files to the data directory?")
	p.confirm("Move to the data directory")
	p.see("The job has started.")
	p.looksGood("contents")
	p.audit()

	plain := start(t, t.TempDir())
	p = signedInAt(t, plain, signedIn(t, plain), "/system/info")
	p.see("Database files")
	p.missing("button", "Move to the bucket")
}
