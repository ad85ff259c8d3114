package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExport_UnknownTable: what runs on the socket, which root need not trust, can't choose the files of an export.
func TestExport_UnknownTable(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"success":true,"data":{"values":{"../elsewhere":{"a":1}}}}`)
	}))
	defer s.Close()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", at.Host)
	})
	base := t.TempDir()
	p := &program{out: &bytes.Buffer{}, args: []string{filepath.Join(base, "export")}}
	if err := p.exportSetup(c); err == nil || !strings.Contains(err.Error(), "unknown table") {
		t.Error(err)
	}
	if left, err := os.ReadDir(base); err != nil || len(left) > 0 {
		t.Errorf("it wrote %v, %v", left, err)
	}
}
