package e2e

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"

	cdbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// upload passes files to the only file input of the page, which need not be visible.
func (p *page) upload(paths ...string) {
	p.t.Helper()
	p.until("give files", func() error {
		id, err := element(p,
			"only([...root.querySelectorAll('input[type=file]')], 'inputs for files')")
		if err != nil {
			return err
		}
		_, err = ask(p, dom.SetFileInputFiles, dom.SetFileInputFilesParams{
			Files:    paths,
			ObjectID: id,
		})
		return err
	})
}

// drop drops files on the center of the element that the page is limited to.
func (p *page) drop(paths ...string) {
	p.t.Helper()
	var at point
	p.until("drop files on "+p.scope, func() (err error) {
		at, err = p.place(func() (runtime.RemoteObjectID, error) { return element(p, "root") })
		return err
	})
	for _, step := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter,
		input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		send(p, input.DispatchDragEvent, input.DispatchDragEventParams{
			Type: step, X: at.X, Y: at.Y,
			Data: &input.DragData{
				Items:              []*input.DragDataItem{},
				Files:              paths,
				DragOperationsMask: 1,
			},
		})
	}
}

// download returns the file that an action makes the browser save.
func (p *page) download(act func()) (name string, content []byte) {
	p.t.Helper()
	ctx, stop := context.WithCancel(p.ctx)
	defer stop()
	var mu sync.Mutex
	names, done := map[string]string{}, map[string]bool{} // by the browser's ID of the download
	if err := chromedp.ListenBrowser(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *cdbrowser.EventDownloadWillBegin:
			names[e.GUID] = e.SuggestedFilename
		case *cdbrowser.EventDownloadProgress:
			done[e.GUID] = e.State == cdbrowser.DownloadProgressStateCompleted
		}
	}); err != nil {
		p.fatalf("listen for downloads: %v", err)
	}

	dir := p.t.TempDir()
	if _, err := chromedp.CallBrowser(ctx, cdbrowser.SetDownloadBehavior,
		cdbrowser.SetDownloadBehaviorParams{
			Behavior:         cdbrowser.SetDownloadBehaviorBehaviorAllowAndName,
			BrowserContextID: chromedp.FromContext(p.ctx).BrowserContextID,
			DownloadPath:     dir, EventsEnabled: yes,
		}); err != nil {
		p.fatalf("allow downloads: %v", err)
	}

	act()
	p.until("download a file", func() error {
		mu.Lock()
		defer mu.Unlock()
		for id := range done {
			// Files of another page are in another directory.
			b, err := os.ReadFile(filepath.Join(dir, id))
			if err == nil && done[id] {
				name, content = names[id], b
				return nil
			}
		}
		return errors.New("none is whole")
	})
	return name, content
}

// width sets the width of the window: a phone (320), a tablet (768) or a desktop (1440).
func (p *page) width(width int64) {
	p.t.Helper()
	height := map[int64]int64{320: 640, 768: 1024}[width]
	if height == 0 {
		height = 900
	}
	send(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width:             width,
		Height:            height,
		DeviceScaleFactor: 1,
	})
}

// dark sets the color scheme that the system prefers.
func (p *page) dark(dark bool) {
	p.t.Helper()
	p.looks.dark = dark
	p.emulate()
}

// motion sets whether the system allows animation, for pages opened from now on. By default
// it does not: tests are not about animation, and would wait for it.
func (p *page) motion(moves bool) {
	p.t.Helper()
	p.looks.moves = moves
	p.emulate()
}

// looks are the system's preferences.
type looks struct{ dark, moves bool }

func (p *page) emulate() {
	p.t.Helper()
	scheme, motion := "light", "reduce"
	if p.looks.dark {
		scheme = "dark"
	}
	if p.looks.moves {
		motion = "no-preference"
	}

	send(p, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {
				Name:  "prefers-reduced-motion",
				Value: motion,
			},
		}})
}

// offline disconnects the network or reconnects it. Failures while it is disconnected are
// expected.
func (p *page) offline(offline bool) {
	p.t.Helper()
	p.watch.mu.Lock()
	p.watch.offline = p.watch.offline || offline // a response may be late
	p.watch.mu.Unlock()
	send(p, network.OverrideNetworkState, network.OverrideNetworkStateParams{
		Offline:            offline,
		DownloadThroughput: -1,
		UploadThroughput:   -1,
	})
	send(p, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{
			Offline:            offline,
			DownloadThroughput: -1,
			UploadThroughput:   -1,
		}},
	})
}
