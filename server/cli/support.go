package cli

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// support writes a report for those who help: what status, doctor and the statistics know. The
// configuration has its secrets masked; names of users and addresses of clients are left out.
func (p *program) support(c *client) (err error) {
	path := "reeve-support-" + time.Now().UTC().Format("20060102-150405") + ".tar.gz"
	if len(p.args) > 0 {
		path = p.args[0]
	}

	files := map[string]any{}
	for name, from := range map[string]string{
		"status.json":   "/local/status",
		"requests.json": "/local/requests",
		"health.json":   "/system/health",
		"info.json":     "/system/info",
		"stats.json":    "/system/monitor/stats",
	} {
		var data map[string]json.RawMessage
		if err := c.get(from, nil, &data); err != nil {
			data = map[string]json.RawMessage{"error": json.RawMessage(jsonText(err.Error()))}
		}
		delete(data, "users")
		files[name] = data
	}
	files["machine.json"] = []part{checkSync(p.config.DataDir), checkFileSystem(p.config.DataDir),
		p.checkCertificate(), p.checkProxies(), p.checkConfig()}
	stacks, err := c.do("GET", "/local/stacks", nil, nil)
	if err != nil {
		return err
	}
	defer stacks.Body.Close()
	text, err := io.ReadAll(io.LimitReader(stacks.Body, 16<<20))
	if err != nil {
		return err
	}
	files["stacks.txt"] = string(text)

	to, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer to.Close() // a directory, so Close loses nothing
	read, write := io.Pipe()
	go func() { write.CloseWithError(bundle(write, files)) }()
	if _, err := writeNew(to, filepath.Base(path), read, func(int64) {}); err != nil {
		return errors.Join(err, read.Close())
	}
	return p.show(map[string]string{"file": path}, "%s", path)
}

func jsonText(text string) []byte {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can always be encoded
	}
	return b
}

// bundle writes an archive of files: a string as it is, anything else as JSON.
func bundle(to io.Writer, files map[string]any) error {
	packed := gzip.NewWriter(to)
	archive := tar.NewWriter(packed)
	for name, content := range files {
		text, ok := content.(string)
		if !ok {
			b, err := json.MarshalIndent(content, "", "  ")
			if err != nil {
				return err
			}
			text = string(b) + "\n"
		}
		head := &tar.Header{Name: name, Mode: 0o600, Size: int64(len(text)), ModTime: time.Now()}
		if err := archive.WriteHeader(head); err != nil {
			return err
		}
		if _, err := io.WriteString(archive, text); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}
