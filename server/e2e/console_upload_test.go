package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
)

// busy returns how many seconds the page's main thread has been busy since its start.
func (p *page) busy() float64 {
	p.t.Helper()
	for _, m := range send(p, performance.GetMetrics, cdp.Empty{}).Metrics {
		if m.Name == "TaskDuration" {
			return m.Value
		}
	}
	p.fatalf("the browser does not tell how busy it is")
	return 0
}

// work returns how long the main thread is busy with an action, until a text is visible and
// for one second after. The page itself looks for the text, four times per second, so that
// waiting costs little.
func (p *page) work(text string, act func()) float64 {
	p.t.Helper()
	p.settle()
	before := p.busy()
	act()
	wait := fmt.Sprintf(`(async () => {
		const pause = (ms) => new Promise((go) => setTimeout(go, ms))
		for (let n = 0; !document.body.textContent.includes(%s); n++) {
			if (n > 200) throw new Error('it does not come')
			await pause(250)
		}
		await pause(1000)
	})()`, quote(text))
	if err := evaluate(p, wait, nil); err != nil {
		p.fatalf("wait for %q: %v", text, err)
	}

	return p.busy() - before
}

// TestConsoleUploads_PageStaysResponsive uploads twenty files over a connection of 1 MB/s,
// which takes seconds. The page stays responsive meanwhile: its work is no more than
// rendering the list of these files a few times.
func TestConsoleUploads_PageStaysResponsive(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/file/list?view=grid")
	p.see("No files here")
	send(p, performance.Enable, performance.EnableParams{})
	slow := []*network.Conditions{{DownloadThroughput: -1, UploadThroughput: 1_000_000}}
	send(p, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: slow})
	var paths []string
	for n := range 20 {
		paths = append(paths,
			onDisk(t, fmt.Sprintf("%02d.txt", n),
				fmt.Sprint(n, strings.Repeat(" some words", 40_000))))
	}

	p.upload(onDisk(t, "first.txt", "first")) // loads the scripts
	p.see("1 uploaded")
	p.click("button", "Close")
	uploading := p.work("20 uploaded", func() { p.upload(paths...) })
	p.in(".file-grid").see("19.txt")
	p.click("button", "Close")
	table := p.work("Uploaded by", func() { p.click("radio", "List") })
	grid := p.work("19.txt", func() { p.click("radio", "Grid") })
	t.Logf("busy for %.2f s while uploading, %.2f s and %.2f s to draw the list", uploading, table,
		grid)
	if most := 3 * (table + grid); uploading > most {
		t.Errorf("the page is busy for %.2f s, at most %.2f s are right", uploading, most)
	}
}
