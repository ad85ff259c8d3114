package server_test

import (
	"strings"
	"testing"

	"reeve/server/files"
	"reeve/server/servertest"
)

// TestNodes_SignedLinks opens a file by a link that another node has signed, and the stream of flags.
func TestNodes_SignedLinks(t *testing.T) {
	t.Parallel()
	first := everyone(t)
	file := first.Keep("owner", "x", "signed for")
	s := servertest.NodesOf(first, 3)
	c := &servertest.Traveller{Nodes: s, Token: s.All[0].Tokens["owner"]}
	var link files.LinkOut
	c.OK("POST", "/file/list/"+file.ID.String()+"/link", "").Data(&link)
	nobody := &servertest.Traveller{Nodes: s, Position: c.Position, At: c.At}
	for range s.All {
		if a := nobody.OK("GET", link.URL, ""); a.Body != "signed for" {
			t.Errorf("%s: %q", a.Sent, a.Body)
		}
	}
	if a := nobody.Call("GET", strings.Replace(link.URL, "signature=", "signature=A", 1), ""); a.Code == 200 {
		t.Errorf("a wrong signature: %d", a.Code)
	}
}
