package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/e2e"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// running is the browser of all tests, started when one needs it.
var running struct {
	once sync.Once
	ctx  context.Context // nil: there is none
	err  error
	stop func()
}

func TestMain(m *testing.M) {
	status := m.Run()
	if running.stop != nil {
		running.stop()
	}
	os.Exit(status)
}

// startBrowser starts the browser that is installed, if one is.
func startBrowser() {
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return
	}
	dir, err := os.MkdirTemp("", "reprise-browser-")
	if err != nil {
		running.err = err
		return
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.UserDataDir(dir),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-dev-shm-usage", true))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancelContext := chromedp.NewContext(allocator)
	running.stop = func() {
		_ = chromedp.Cancel(ctx)
		cancelContext()
		cancel()
		_ = os.RemoveAll(dir)
	}
	running.ctx, running.err = ctx, chromedp.Do(ctx)
}

// A tab is a page in a browser.
type tab struct {
	*testing.T
	ctx context.Context

	mu   sync.Mutex
	bad  []string // what the page did that it must not
	page string
}

// A window is in which a page is seen.
type window struct {
	width, height int64
	dark, phone   bool
}

var (
	desktop   = window{width: 1200, height: 900}
	telephone = window{width: 375, height: 740, phone: true}
)

// open opens a page from disk, or skips the test if there is no browser. The test fails
// if the page requests anything, or says anything on the console.
func open(t *testing.T, path string, w window) *tab {
	t.Helper()
	return visit(t, (&url.URL{Scheme: "file", Path: path}).String(), w)
}

// visit opens a page by its address, which may request what is below that.
func visit(t *testing.T, address string, w window) *tab {
	t.Helper()
	e2e.Programs(t)
	running.once.Do(startBrowser)
	switch {
	case running.err != nil:
		t.Fatal(running.err)
	case running.ctx == nil:
		t.Skip("needs a browser: chromium")
	}
	ctx, cancel := chromedp.NewContext(running.ctx)
	t.Cleanup(cancel)
	b := &tab{T: t, ctx: ctx, page: address}
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	call(b, runtime.Enable, cdp.Empty{})
	call(b, network.Enable, network.EnableParams{})
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: w.width,
		Height: w.height, DeviceScaleFactor: 1, Mobile: w.phone})
	b.scheme(w.dark)
	b.do(chromedp.Navigate(b.page))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, what := range b.bad {
			t.Error(what)
		}
	})
	return b
}

// listen takes note of what a page must not do.
func (b *tab) listen(event any) {
	bad := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if u := e.Request.URL; u != b.page && !strings.HasPrefix(u, "data:") &&
			!(strings.HasPrefix(b.page, "http:") && strings.HasPrefix(u, b.page)) {
			bad = "the page requests " + u
		}
	case *runtime.EventExceptionThrown:
		bad = "the page throws: " + e.ExceptionDetails.Text
		if x := e.ExceptionDetails.Exception; x != nil {
			bad += " " + x.Description
		}
	case *runtime.EventConsoleAPICalled:
		bad = "the page says on the console: " + string(e.Type)
		for _, a := range e.Args {
			bad += " " + string(a.Value)
		}
	}
	if bad != "" {
		b.mu.Lock()
		b.bad = append(b.bad, bad)
		b.mu.Unlock()
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.Fatal(err)
	}
}

// call sends a command to the browser.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.Fatal(err)
	}
	return result
}

// scheme has the page in dark colours or in light ones.
func (b *tab) scheme(dark bool) {
	b.Helper()
	value := "light"
	if dark {
		value = "dark"
	}
	call(b, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme",
			Value: value}}})
}

// eval returns the value of an expression.
func eval[T any](b *tab, format string, args ...any) T {
	b.Helper()
	text := fmt.Sprintf(format, args...)
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[string]("JSON.stringify("+text+") ?? 'null'"))
	if err != nil {
		b.Fatalf("%s: %v", text, err)
	}
	var v T
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		b.Fatalf("%s is %s: %v", text, out, err)
	}
	return v
}

// wait waits until an expression is true.
func (b *tab) wait(format string, args ...any) {
	b.Helper()
	for start := time.Now(); time.Since(start) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
		if eval[bool](b, "Boolean("+format+")", args...) {
			return
		}
	}
	b.Fatalf("it does not come true that "+format, args...)
}

// show scrolls to a figure and waits until it is drawn.
func (b *tab) show(figure string) {
	b.Helper()
	eval[any](b, `document.querySelector('[data-figure="%s"]').scrollIntoView({ behavior: 'instant', block: 'center' })`, figure)
	b.wait(`document.querySelector('[data-figure="%s"]').dataset.drawn`, figure)
}

// shoot keeps a picture of the whole page, if the environment names a directory for it.
func (b *tab) shoot(name string) {
	b.Helper()
	dir := os.Getenv("REPORT_PICTURES")
	if dir == "" {
		return
	}
	eval[any](b, "report.showAll()")
	b.do(chromedp.Sleep(200 * time.Millisecond))
	full := true
	picture := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &full}).Data
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o666); err != nil {
		b.Fatal(err)
	}
}

// place returns the place of a figure, by shares of its width and height, in the window.
func (b *tab) place(figure string, x, y float64) [2]float64 {
	b.Helper()
	return eval[[2]float64](b, `(() => {
		const e = document.querySelector('[data-figure="%s"]'), a = report.figures.get('%[1]s').area(), r = e.getBoundingClientRect();
		return [r.left + a.x + %v * a.width, r.top + a.y + %v * a.height];
	})()`, figure, x, y)
}
