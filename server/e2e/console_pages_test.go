package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestEveryPage opens every page in the owner's menus, at the widths of a phone, a tablet
// and a desktop, light and dark: each is accessible, and none is wider than its window.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	home := signedInAt(t, server, c, "/")
	for _, path := range append([]string{"/"}, home.linked(c)...) {
		name := "home"
		if path != "/" {
			name = strings.ReplaceAll(path[1:], "/", "-")
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := signedInAt(t, server, c, path)
			for _, width := range []int64{1440, 768, 320} {
				p.width(width)
				p.noSidewaysScroll()
				for _, dark := range []bool{true, false} {
					p.dark(dark)
					if width == 1440 && !dark || width == 320 && dark || width != 768 && nightly() {
						p.examine("{}")
					}
					p.shoot(fmt.Sprintf("%s-%s-%d", name, theme(dark), width))
				}
			}
		})
	}
}

// linked returns the paths of the menus that the interface returns for a user and the
// console shows.
func (p *page) linked(c *client) (paths []string) {
	p.t.Helper()
	p.settle()
	type menu struct {
		Path     string
		Children []menu
	}
	info := into[struct{ Menus []menu }](p.t, c.want(200, "GET", "/admin/info", ""))
	for _, top := range info.Menus {
		for _, m := range append(top.Children, top) {
			var shown bool
			p.until("read the menu", func() error {
				return evaluate(p,
					fmt.Sprintf(`!!root.querySelector('nav li[role=menuitem][data-menu-id$="-%s"]')`, m.Path), &shown)
			})
			if shown {
				paths = append(paths, m.Path)
			}
		}
	}

	if len(paths) == 0 {
		p.fatalf("the console shows no menu")
	}

	return paths
}
