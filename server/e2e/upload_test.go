package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// payload is content to upload: a number of bytes, which depend on the seed.
type payload struct {
	seed uint64
	size int64
}

func (c payload) reader() io.Reader {
	var seed [32]byte
	for i := range 8 {
		seed[i] = byte(c.seed >> (8 * i))
	}
	return io.LimitReader(rand.NewChaCha8(seed), c.size)
}

// bytes returns a small payload.
func (c payload) bytes() []byte {
	b, err := io.ReadAll(c.reader())
	if err != nil {
		panic(err) // a number generator cannot fail
	}
	return b
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// digestOf returns the digest of a file on the disk.
func digestOf(t testing.TB, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// fileRecord has the fields of a file's record that these tests use.
type fileRecord struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	URL    string `json:"url"`
	Public int    `json:"public"`
}

// boundary separates the files of a form.
const boundary = "a-line-that-no-file-has"

// formPart returns the header of a file in a form.
func formPart(name string) string {
	return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name + "\"\r\n\r\n"
}

const formEnd = "--" + boundary + "--\r\n"

// uploading returns a request that uploads a form; a size of -1 makes it chunked. Nothing
// is read from form before the request is sent.
func (c *client) uploading(size int64, form io.Reader) (*http.Request, error) {
	req, err := http.NewRequest("POST", c.base+"/file/list", form)
	if err != nil {
		return nil, err
	}
	req.ContentLength = size
	req.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	req.Header.Set("Authorization", "Bearer "+c.token)
	return req, nil
}

// stream returns an HTTP client for requests that may take longer than usual.
func (c *client) stream() *http.Client {
	return &http.Client{Transport: c.http.Transport, Timeout: 10 * time.Minute}
}

// send uploads one file of a known size. A goroutine may call it.
func (c *client) send(name string, size int64, content io.Reader) (*answer, error) {
	return c.sendTo("/file/list", name, size, content)
}

// sendTo is send for any route that takes a file.
func (c *client) sendTo(path, name string, size int64, content io.Reader) (*answer, error) {
	head, tail := formPart(name), "\r\n"+formEnd
	req, err := c.uploading(int64(len(head)+len(tail))+size,
		io.MultiReader(strings.NewReader(head), content, strings.NewReader(tail)))
	if err != nil {
		return nil, err
	}

	req.URL.Path = path
	resp, err := c.stream().Do(req)
	if err != nil {
		return nil, err
	}

	defer resp.Body.Close()
	a := &answer{status: resp.StatusCode, header: resp.Header}
	if a.raw, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}

	return a, json.Unmarshal(a.raw, a)
}

// put uploads a file, which must succeed.
func (c *client) put(name string, content payload) fileRecord {
	c.t.Helper()
	a, err := c.send(name, content.size, content.reader())
	if err != nil || a.status != 200 {
		c.t.Fatalf("upload of %s: %v %+v", name, err, a)
	}
	return records(c.t, a)[0]
}

// newVersion uploads a new version of a file.
func (c *client) newVersion(f fileRecord, content payload) {
	c.t.Helper()
	a, err := c.sendTo(fmt.Sprintf("/file/list/%d/version", f.ID), "new", content.size, content.reader())
	if err != nil || a.status != 200 {
		c.t.Fatalf("a version of file %d: %v %+v", f.ID, err, a)
	}
}

// records returns the records in the response to an upload.
func records(t testing.TB, a *answer) []fileRecord {
	t.Helper()
	return into[struct{ Data []fileRecord }](t, a).Data
}

// fetch reads a file's content into w and returns the number of bytes.
func (c *client) fetch(path string, w io.Writer) (int64, error) {
	req, err := http.NewRequest("GET", c.base+path, nil)
	if err != nil {
		return 0, err
	}

	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.stream().Do(req)
	if err != nil {
		return 0, err
	}

	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		text, _ := io.ReadAll(resp.Body)
		return 0, fmt.Errorf("GET %s: %d %s", path, resp.StatusCode, text)
	}

	return io.Copy(w, resp.Body)
}

// content returns the path of a file's content.
func content(id int64) string { return fmt.Sprintf("/file/list/%d/content", id) }

// holds checks that a file's content has the digest in its record.
func (c *client) holds(f fileRecord) error {
	sum := sha256.New()
	n, err := c.fetch(content(f.ID), sum)
	if err != nil {
		return fmt.Errorf("file %d: %w", f.ID, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); n != f.Size || got != f.SHA256 {
		return fmt.Errorf("file %d has %d bytes with the digest %s, its record says %d and %s",
			f.ID, n, got, f.Size, f.SHA256)
	}
	return nil
}

// mustHold fails the test unless holds succeeds.
func (c *client) mustHold(f fileRecord) {
	c.t.Helper()
	if err := c.holds(f); err != nil {
		c.t.Error(err)
	}
}

// listed returns all files in a list or in the trash, by ID.
func (c *client) listed(list string) map[int64]fileRecord {
	c.t.Helper()
	all := map[int64]fileRecord{}
	got := into[struct {
		Data  []fileRecord
		Total int
	}](c.t, c.want(200, "GET", list+"?pageSize=1000", ""))
	for _, f := range got.Data {
		all[f.ID] = f
	}
	if len(all) != got.Total {
		c.t.Fatalf("%s has %d files, %d came", list, got.Total, len(all))
	}
	return all
}

// discard moves a file to the trash and deletes it permanently.
func (c *client) discard(id int64) {
	c.t.Helper()
	c.want(200, "DELETE", fmt.Sprint("/file/list/", id), "")
	c.want(200, "DELETE", fmt.Sprint("/file/trash/", id), "")
}
