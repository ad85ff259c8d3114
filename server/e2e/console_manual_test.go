package e2e

import "testing"

// TestConsoleManual opens every topic of the manual at the widths of a desktop and of a phone: each
// is accessible, and none is wider than its window.
func TestConsoleManual(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/help")
	topics := into[struct{ Data []struct{ Key, Title string } }](t,
		c.want(200, "GET", "/system/manual", "")).Data
	if len(topics) < 15 {
		t.Fatalf("%d topics", len(topics))
	}

	for _, topic := range topics {
		p.width(1440)
		p.in(".topics").click("link", topic.Title)
		p.at("/help/" + topic.Key)
		p.in("article").see(topic.Title)
		p.audit()
		p.width(320)
		p.noSidewaysScroll()
		p.shoot("manual-" + topic.Key)
	}
}
