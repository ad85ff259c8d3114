package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/chromedp/cdproto/runtime"
)

// axe is where npm ci puts the rules for pages that everybody can use.
const axe = "../../embed/console/node_modules/axe-core/axe.min.js"

// audit holds that axe finds nothing in the page by any of its default rules, WCAG
// AA contrast among them.
func (p *page) audit() {
	p.t.Helper()
	p.settle()
	source, err := os.ReadFile(axe)
	if err != nil {
		unless(p.t, fmt.Sprintf("no axe-core (npm ci in embed/console): %v", err))
	}
	var found []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML, FailureSummary string }
	}
	// Evaluated by the browser itself, which the page's policy does not concern.
	r := send(p, runtime.Evaluate, runtime.EvaluateParams{
		Expression:   string(source) + "; axe.run({ resultTypes: ['violations'] }).then((r) => JSON.stringify(r.violations))",
		AwaitPromise: yes, ReturnByValue: yes,
	})
	var text string
	if err := decode(r.Result, r.ExceptionDetails, nil, &text); err != nil {
		p.fatalf("run axe: %v", err)
	}
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		p.fatalf("read what axe found: %v", err)
	}
	for _, v := range found {
		var nodes strings.Builder
		for _, n := range v.Nodes {
			fmt.Fprintf(&nodes, "\n  %s\n    %s", n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", " "))
		}
		p.t.Errorf("axe: %s (%s): %s%s", v.ID, v.Impact, v.Help, &nodes)
	}
}

// noSidewaysScroll holds that the page is no wider than its window; what is within
// it, like a table, may be.
func (p *page) noSidewaysScroll() {
	p.t.Helper()
	p.settle()
	var size struct{ Page, Window int }
	if err := evaluate(p, "({ Page: document.scrollingElement.scrollWidth, Window: innerWidth })", &size); err != nil {
		p.fatalf("measure the page: %v", err)
	}
	if size.Page > size.Window {
		p.t.Errorf("the page is %d wide in a window of %d", size.Page, size.Window)
	}
}
