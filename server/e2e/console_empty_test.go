package e2e

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// withoutRecords removes the records from all lists that the server sends: on a new server, most have some.
const withoutRecords = `{
	const real = fetch
	globalThis.fetch = async (path, options) => {
		const response = await real(path, options)
		if ((options?.method ?? 'GET') !== 'GET' || !response.ok) return response
		if (!/^\/(admin|user|file|system)\//.test(path) || /^\/(admin\/info|system\/(event|info|health|setting))/.test(path)) return response
		const body = await response.clone().json().catch(() => undefined)
		if (Array.isArray(body?.data)) body.data = []
		else if (Array.isArray(body?.data?.data)) body.data = { ...body.data, data: [], total: 0 }
		else return response
		return new Response(JSON.stringify(body), { status: response.status, headers: response.headers })
	}
}`

// emptiness is a list without records as people see it.
type emptiness struct {
	Texts   []string // reasons that are shown
	Creates string   // label of the button for a new record
	Offers  []string // labels of the buttons beside the reasons
}

func (p *page) emptiness() (e emptiness) {
	p.t.Helper()
	p.settle()
	p.until("look for empty lists", func() error {
		return evaluate(p, `(() => {
			const shown = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility())
			for (const table of shown('main .ant-table-placeholder')) if (!table.querySelector('.ant-empty')) throw new Error('an empty table says nothing')
			return {
				Texts: shown('main .ant-empty-description').map((e) => e.innerText),
				Creates: shown('main [data-create]')[0]?.innerText.trim() ?? '',
				Offers: shown('main .ant-empty button').map((e) => e.innerText.trim()),
			}
		})()`, &e)
	})
	return e
}

// TestConsoleLists_Empty: each list without records says why, and offers to create the first one to
// those who may.
func TestConsoleLists_Empty(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/")
	paths := append(p.linked(c), "/account/security", "/system/monitor?kind=trace")
	p.before(withoutRecords)
	empty, offered := 0, 0
	for _, path := range paths {
		p.open(path)
		e := p.emptiness()
		for _, text := range e.Texts {
			if empty++; utf8.RuneCountInString(text) < 20 || !strings.Contains(text, ".") {
				t.Errorf("%s does not say why it is empty: %q", path, text)
			}
		}
		if e.Creates == "" {
			continue
		}
		if offered++; len(e.Texts) == 0 || len(e.Offers) == 0 || e.Offers[0] != e.Creates {
			t.Errorf("%s offers %q in place of %q, and says %q", path, e.Offers, e.Creates, e.Texts)
		}
	}
	if empty < 15 || offered < 10 {
		t.Errorf("%d lists are empty, %d of them offer to create a record", empty, offered)
	}

	p.open("/admin/role")
	p.looksGood("empty-roles")
	p.click("button", "New role (the first one)")
	p.dialog().see("New role")

	reader := c.holder(server, "reader", "admin.role.query")
	q := signedInAt(t, server, reader, "/admin/role", withoutRecords)
	q.see("No roles yet.")
	if e := q.emptiness(); e.Creates != "" || len(e.Offers) > 0 {
		t.Errorf("it offers %q to a reader", e.Offers)
	}

	zh := signedInAt(t, server, c, "/admin/key", inChinese, withoutRecords)
	zh.see("暂无 API 密钥")
	zh.looksGood("zh-empty-keys")
}
