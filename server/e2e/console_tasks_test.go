package e2e

import (
	"errors"
	"testing"
)

// field is an expression for whether the focused element is the field with a label.
func field(label string) string {
	return "e.labels?.[0]?.innerText.startsWith(" + quote(label) + ")"
}

// tabTo presses Tab until an expression about the focused element, e, is true.
func (p *page) tabTo(is string) {
	p.t.Helper()
	p.until("reach the element where "+is, func() error {
		p.press("Tab")
		var there bool
		err := evaluate(p, "((e) => Boolean("+is+"))(document.activeElement)", &there)
		if err == nil && !there {
			err = errors.New("no Tab leads there")
		}
		return err
	})
}

// TestConsoleTasks_WithoutMouse does six of the tasks in the manual with keys only: a user, a role, entries of a
// dictionary, a setting and its undo, a file, and an API key.
func TestConsoleTasks_WithoutMouse(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/", inChinese)
	p.settle()
	opened := func(keys, page, label string) {
		t.Helper()
		p.write(keys)
		p.find("heading", page)
		p.settle()
		p.write("c")
		p.focused(field(label))
	}

	opened("gu", "用户", "用户名")
	p.write("xiaoli")
	p.press("Ctrl+Enter")
	p.see("请立即复制此密码")
	p.focused("e.closest('.ant-modal')")
	p.tabTo("e.innerText === '完成'")
	p.press("Enter")
	p.gone("请立即复制此密码")
	c.person("/admin/list", "xiaoli")

	opened("gr", "角色", "名称")
	p.write("Auditor")
	p.tabTo("e.type === 'radio'")
	p.press("Space")
	p.press("Ctrl+Enter")
	p.see("已新建角色 Auditor")

	p.open("/system/dict") // empty
	p.settle()
	p.write("c")
	p.focused(field("名称"))
	p.press("Escape")
	path := c.dict("state", "tag")
	p.open(path)
	p.find("button", "新建字典项")
	for _, label := range []string{"open", "paid", "sent"} {
		p.settle()
		p.write("c")
		p.focused(field("显示文本"))
		p.write(label)
		p.press("Tab")
		p.focused(field("值"))
		p.write(label)
		p.press("Ctrl+Enter")
		p.row(label)
	}
	c.labels(path, "open paid sent")

	p.write("gs")
	p.find("heading", "设置")
	p.settle()
	p.tabTo("e.value === 'Reeve'")
	p.press("Ctrl+A")
	p.write("Our place")
	p.press("Ctrl+Enter")
	p.see("已保存 1 项。")
	c.settingIs("1", "title", "Our place")
	p.press("Tab") // in the field, Ctrl+Z is about what is typed
	p.press("Ctrl+Z")
	p.gone("已保存 1 项。")
	c.settingIs("1", "title", "Reeve")

	p.write("gf")
	p.find("button", "上传")
	p.settle()
	p.do("addEventListener('click', (e) => { if (e.target.type === 'file') { e.preventDefault(); window.asked = navigator.userActivation.isActive } }, true)")
	p.write("c")
	p.until("be asked for a file", func() error {
		return evaluate(p, "(() => { if (!window.asked) throw new Error('nothing asks') })()", nil)
	})

	p.open("/admin/key")
	p.settle()
	p.write("c")
	p.focused(field("名称"))
	p.write("shop")
	p.press("Tab")
	p.focused(field("角色"))
	p.write("Clerk")
	p.see("Clerk") // the roles may still be on their way
	p.press("Enter")
	p.press("Tab")
	p.focused("!(" + field("角色") + ")")
	p.press("Ctrl+Enter")
	p.see("请立即复制此密钥")
}

// tabs presses Tab at most eight times until an expression about the focused element, e, is true.
func (p *page) tabs(is string) {
	p.t.Helper()
	const most = 8
	for range most {
		p.press("Tab")
		var there bool
		if err := evaluate(p, "((e) => Boolean("+is+"))(document.activeElement)", &there); err != nil {
			p.fatalf("%v", err)
		}
		if there {
			return
		}
	}
	p.fatalf("%d Tabs don't reach the element where %s", most, is)
}

// TestConsoleTabs_FewAfterJump: keys that are pressed before the page is there wait for it, and at most eight Tabs lead
// from the start of a page, or from its search field, to what is usual.
func TestConsoleTabs_FewAfterJump(t *testing.T) {
	t.Parallel()
	server, c := office(t)
	p := signedInAt(t, server, c, "/", inChinese)
	p.settle()
	p.write("gu/")
	p.focused("e.matches('[data-search]')")
	p.tabs("e.ariaLabel === '状态'")

	p.open("/")
	p.settle()
	p.write("gu")
	p.find("button", "新建用户")
	p.settle()
	p.tabs("e.innerText === '新建用户'")
	p.tabs("e.ariaLabel === '状态'")

	p.open("/")
	p.settle()
	p.press("Ctrl+k")
	p.focused("e.closest('dialog')")
	p.write("角色")
	p.press("Enter")
	p.find("button", "新建角色")
	p.settle()
	p.tabs("e.innerText === '新建角色'")

	p.open("/")
	p.settle()
	p.write("guc")
	p.focused(field("用户名"))
}
