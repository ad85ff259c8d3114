package e2e

import (
	"path/filepath"
	"testing"

	"reeve/store/disk/disktest"
)

// TestConsoleCompact compacts the database files of a running server, and shows the result to a clerk
// who comes later.
func TestConsoleCompact(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	f := c.put("large", payload{1, 20 << 20})
	clerk := c.holder(server, "clerk", "system", "system.info")
	p := signedInAt(t, server, c, "/system/info")
	p.see("Compact the files to return it to the disk.")
	p.gone("MiB after")
	p.click("button", "Compact")
	p.see("Compact the database files?")
	p.see("The server continues to read and write.")
	p.shoot("compact-sure")
	p.confirm("Cancel")
	p.gone("Compact the database files?")

	p.click("button", "Compact")
	p.confirm("Compact")
	p.see("Compacting")
	p.missing("button", "Compact")
	p.shoot("compact-running")
	p.see("Database files compacted.")
	p.see("files.db: ")
	p.find("button", "Compact")
	p.looksGood("compacted")
	c.mustHold(f)

	p = signedInAt(t, server, c, "/system/info", inChinese)
	p.see("files.db：压缩前")
	p.looksGood("zh-compacted")
	p.click("button", "压缩")
	p.see("压缩数据库文件？")
	p.shoot("zh-compact-sure")

	p = signedInAt(t, server, clerk, "/system/info")
	p.row("data.db")
	p.see("run “reeve compact”")
	p.missing("button", "Compact")
}

// TestConsoleCompact_FullDisk shows why a compaction has failed.
func TestConsoleCompact_FullDisk(t *testing.T) {
	at := disktest.SmallDisk(t, "64m")
	server := start(t, filepath.Join(at, "data"))
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/system/info")
	defer disktest.Fill(t, at, 64<<20)()
	p.click("button", "Compact")
	p.confirm("Compact")
	p.see("Compaction failed: ")
	p.find("button", "Compact")
	p.shoot("compact-failed")
}
