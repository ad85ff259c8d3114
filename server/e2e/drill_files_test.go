package e2e

import (
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"time"
)

// storedFile is a file whose upload was answered with success.
type storedFile struct {
	path    string
	content payload
}

func (c payload) text() string {
	b, _ := io.ReadAll(c.reader()) // from memory
	return string(b)
}

// uploads uploads files, each at another node, and reads it at the next one, and an earlier one anywhere.
func (d *drill) uploads(client int) {
	for n := client; !d.over.Load(); n++ {
		file := storedFile{content: payload{rand.Uint64(), []int64{0, 1000, 64 << 10, 200 << 10}[rand.IntN(4)]}}
		a, err := d.at(n, d.token).uploads(fmt.Sprintf("drill %d %d", client, n), file.content.text())
		done, _ := outcome(a, err)
		if !done {
			d.saysWhy("an upload", a, err)
			rest(false)
			continue
		}
		file.path = uploaded(d.t, a)
		c := d.at(n+1, d.token)
		c.extra["Reeve-Commit"] = a.header.Get("Reeve-Commit")
		d.holds(c, file)
		earlier := file
		d.note(func() {
			d.files = append(d.files, file)
			earlier = d.files[rand.IntN(len(d.files))]
		})
		d.holds(d.latest(rand.IntN(3), d.token), earlier)
		time.Sleep(100 * time.Millisecond) // for the other clients
	}
}

// holds reads a file, and reports whether it got the content. Without an answer of success, it must be said why.
func (d *drill) holds(c *client, file storedFile) bool {
	a, err := c.do("GET", file.path+"/content", "")
	if err != nil || a.status != 200 {
		d.saysWhy("a download", a, err)
		return false
	}
	if string(a.raw) != file.content.text() {
		d.t.Errorf("%s has %d bytes of another content at %s, not %d", file.path, len(a.raw), c.base, file.content.size)
	}
	d.note(func() { d.read++ })
	return true
}

// saysWhy checks that a refusal is one of the service, for a reason that the answer names.
func (d *drill) saysWhy(what string, a *answer, err error) {
	switch {
	case err != nil: // the node is gone
	case a.status != 503 || a.ErrorCode == "":
		d.t.Errorf("%s was answered with %d %s", what, a.status, a.raw)
	case a.ErrorCode == "bucket_unavailable":
		d.note(func() { d.bucketless++ })
	}
}

// withoutBucket lets nothing reach the bucket for a moment: uploads are refused by name, and records are written.
func (d *drill) withoutBucket() {
	bucket := d.s3.Options().Endpoint
	for _, name := range d.names {
		d.links[name+" "+bucket].refuse(true)
	}
	for i := range d.names {
		d.until("an upload is refused for want of the bucket", func() bool {
			a, err := d.at(i, d.token).uploads("refused", payload{rand.Uint64(), 1000}.text())
			if err == nil && a.status == 200 {
				d.t.Errorf("an upload without the bucket: %s", a.raw)
			}
			d.saysWhy("an upload without the bucket", a, err)
			return err == nil && a.ErrorCode == "bucket_unavailable"
		})
	}
	d.goesOn("the bucket was lost")
	for _, name := range d.names {
		d.links[name+" "+bucket].refuse(false)
	}
	d.until("an upload comes through", func() bool {
		a, err := d.at(0, d.token).uploads("after", payload{rand.Uint64(), 1000}.text())
		return err == nil && a.status == 200
	})
}

// until waits for a condition while clients work.
func (d *drill) until(what string, holds func() bool) {
	d.t.Helper()
	for since := time.Now(); !d.t.Failed() && !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Since(since) > patience {
			d.t.Errorf("it never happened that %s", what)
		}
	}
}

// checkFiles reads all files at all nodes. Those that the bucket refuses have some of them.
func (d *drill) checkFiles() {
	d.t.Helper()
	for i, name := range d.names {
		for _, file := range d.files {
			if !d.holds(d.latest(i, d.token), file) && !d.barred[name] {
				d.t.Errorf("node %s does not give %s, whose upload was acknowledged", name, file.path)
			}
		}
	}
}

// baseCopies returns the number of base copies in the bucket, of which none that is young is removed.
func (d *drill) baseCopies() (n int) {
	d.t.Helper()
	noErr(d.t, filepath.WalkDir(filepath.Join(d.s3.Dir, "bucket", "cluster"), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return err
	}))
	return n
}
