package e2e

import (
	"net/url"
	"testing"
)

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

// TestConsoleManual_Narrow: a phone shows the text first, and the topics on request.
func TestConsoleManual_Narrow(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/help/tasks")
	p.width(390)
	p.in("article").find("heading", "Tasks")
	p.missing("link", "Forward authentication")
	var top int
	if err := evaluate(p, "Math.round(document.querySelector('article h1').getBoundingClientRect().top)", &top); err != nil || top < 0 || top > 200 {
		t.Errorf("the text begins %d pixels below the top, %v", top, err)
	}
	p.looksGood("manual-folded")
	p.width(390)

	p.click("button", "Topics")
	p.in(".topics").find("link", "API reference")
	p.looksGood("manual-topics")
	p.width(390)
	p.in(".topics").click("link", "Backups")
	p.at("/help/backups")
	p.in("article").find("heading", "Set up a target")
	p.missing("link", "Forward authentication")

	p.fill("Search the manual", "StartTLS")
	p.in(".topics").click("link", "Sign-in providers")
	p.in("article").find("heading", "Sign-in providers")
	p.missing("link", "Forward authentication")
}

// TestConsoleManual_Chinese reads the manual in Chinese: it is searched in Chinese, a topic says in which
// language it is, and links lead to a topic, also to its headings, and to one in English.
func TestConsoleManual_Chinese(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	p := signedInAt(t, server, signedIn(t, server), "/help", inChinese)
	p.find("heading", "快速入门")
	p.fill("搜索手册", "数据范围 不会继承")
	p.in(".topics").gone("安装和更新")
	p.in(".topics").click("link", "概念")
	searched := "/help/concepts?search=" + url.PathEscape("数据范围 不会继承")
	p.at(searched)
	p.in(`article[lang="zh-CN"]`).see("授权不会继承")
	p.in("article").click("link", "下文")
	p.at(searched + "#how-texts-are-compared")
	p.audit()
	p.in("article").click("link", "监控")
	p.at("/help/monitoring#data-scope")
	p.in(`article[lang="en"]`).see("Monitoring")
	p.find("link", "概念")
	p.audit()
	for key, title := range map[string]string{"getting-started": "快速入门", "administration": "管理任务", "build-on-it": "十分钟基于 Reeve 开发"} {
		p.open("/help/" + key)
		p.width(1440)
		p.in(`article[lang="zh-CN"]`).find("heading", title)
		p.shoot("zh-manual-" + key)
		p.width(320)
		p.noSidewaysScroll()
		p.shoot("zh-manual-narrow-" + key)
	}
}
