package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// gecko is a Firefox without windows. It is driven with Marionette, the protocol below its
// WebDriver: JSON messages over TCP, each after its length.
type gecko struct {
	t    *testing.T
	base string // base URL of the server
	conn net.Conn
	in   *bufio.Reader
	last int // number of the last command
}

// geckoPrefs make it choose a port, and leave out animation.
const geckoPrefs = `user_pref("marionette.port", 0);
user_pref("ui.prefersReducedMotion", 1);
`

// startGecko starts Firefox in a profile of its own, 1440 pixels wide, until the test ends.
func startGecko(t *testing.T, server *process) *gecko {
	t.Helper()
	path, err := exec.LookPath("firefox-esr")
	if err != nil {
		path, err = exec.LookPath("firefox")
	}
	if err != nil {
		unless(t, fmt.Sprintf("no Firefox (Debian package firefox-esr): %v", err))
	}
	profile := t.TempDir()
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(geckoPrefs), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-remote", "--marionette",
		"--remote-allow-system-access", "--profile", profile)
	cmd.Env = append(os.Environ(), "HOME="+profile, "LANGUAGE=en", "LC_ALL=C.UTF-8")
	run := begin(t, cmd)

	g := &gecko{t: t, base: server.url}
	end := time.Now().Add(patience)
	for g.conn == nil {
		port, err := os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		if err == nil {
			g.conn, err = net.Dial("tcp", "127.0.0.1:"+string(port))
		}
		if err != nil && time.Now().After(end) {
			t.Fatalf("Firefox does not listen: %v\n%s", err, &run.log)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Cleanup(func() {
		g.do("Marionette:Quit", map[string]any{"flags": []string{"eForceQuit"}}, nil)
		g.conn.Close()
		run.wait()
	})
	g.in = bufio.NewReader(g.conn)
	g.receive(new(json.RawMessage)) // it says who it is
	g.do("WebDriver:NewSession", nil, nil)
	g.do("WebDriver:SetWindowRect", map[string]any{"width": 1440, "height": 900}, nil)
	return g
}

// receive reads one message.
func (g *gecko) receive(into any) {
	g.t.Helper()
	g.conn.SetReadDeadline(time.Now().Add(patience))
	length, err := g.in.ReadString(':')
	var n int
	if err == nil {
		n, err = strconv.Atoi(strings.TrimSuffix(length, ":"))
	}
	message := make([]byte, n)
	if err == nil {
		_, err = io.ReadFull(g.in, message)
	}
	if err == nil {
		err = json.Unmarshal(message, into)
	}
	if err != nil {
		g.t.Fatalf("read what Firefox answers: %v", err)
	}
}

// ask sends a command and stores its result, which is in "value" unless it is a list.
func (g *gecko) ask(command string, params map[string]any, into any) error {
	g.t.Helper()
	g.last++
	if params == nil {
		params = map[string]any{}
	}
	message, err := json.Marshal([]any{0, g.last, command, params})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(g.conn, "%d:%s", len(message), message); err != nil {
		return err
	}

	var answer [4]json.RawMessage // kind, number of the command, error, result
	g.receive(&answer)
	var failed *struct{ Error, Message string }
	if err := json.Unmarshal(answer[2], &failed); err != nil {
		return err
	}
	if failed != nil {
		return fmt.Errorf("%s: %s: %s", command, failed.Error, failed.Message)
	}
	if into == nil {
		return nil
	}
	result := struct{ Value any }{into}
	return json.Unmarshal(answer[3], &result)
}

// do is ask for a command that must succeed.
func (g *gecko) do(command string, params map[string]any, into any) {
	g.t.Helper()
	if err := g.ask(command, params, into); err != nil {
		g.t.Fatal(err)
	}
}

// until repeats try until it returns no error.
func (g *gecko) until(what string, try func() error) {
	g.t.Helper()
	var err error
	for end := time.Now().Add(pageWait); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	var seen string
	g.evaluate("location.href + '\\n' + document.body.innerText", &seen)
	g.t.Fatalf("%s: %v\nOne sees:\n%s", what, err, seen)
}

// evaluate stores the value of an expression, which can use the finders of the other browser.
func (g *gecko) evaluate(expression string, into any) error {
	g.t.Helper()
	return g.ask("WebDriver:ExecuteScript", map[string]any{"script": finders + "; return " + expression, "args": []any{}}, into)
}

// open loads a path of the console.
func (g *gecko) open(path string) {
	g.t.Helper()
	g.do("WebDriver:Navigate", map[string]any{"url": g.base + "/console" + path}, nil)
}

// see waits until a text is visible in the page, or what lies above it.
func (g *gecko) see(text string) {
	g.t.Helper()
	g.until(fmt.Sprintf("see %q", text), func() error {
		var there bool
		err := g.evaluate(fmt.Sprintf("document.body.innerText.includes(%s)", quote(text)), &there)
		if err == nil && !there {
			err = errors.New("it is not there")
		}
		return err
	})
}

// gone waits until a text is not visible.
func (g *gecko) gone(text string) {
	g.t.Helper()
	g.until(fmt.Sprintf("not see %q", text), func() error {
		var there bool
		err := g.evaluate(fmt.Sprintf("document.body.innerText.includes(%s)", quote(text)), &there)
		if err == nil && there {
			err = errors.New("it is there")
		}
		return err
	})
}

// settle waits until the page has its content.
func (g *gecko) settle() {
	g.t.Helper()
	g.until("settle", func() error {
		var why string
		err := g.evaluate("unsettled()", &why)
		if err == nil && why != "" {
			err = errors.New(why)
		}
		return err
	})
}

// elementKey is the name under which WebDriver refers to an element.
const elementKey = "element-6066-11e4-a52e-4f735466cecf"

// candidates are the elements that may have a role.
var candidates = map[string]string{
	"button":   "button, a.ant-btn",
	"combobox": "[role=combobox]",
	"heading":  "h1, h2, h3",
	"link":     "a[href]",
	"menuitem": "[role=menuitem]",
	"textbox":  "input, textarea",
}

// locate finds the only element with a role and a name (or a part of one), as Firefox exposes them to screen
// readers, in what lies above the page or else in the page.
func (g *gecko) locate(role, name string) (id string, err error) {
	g.t.Helper()
	var found []map[string]string
	if err := g.evaluate(fmt.Sprintf("[...(document.querySelector('dialog[open]') ?? uppermost() ?? document).querySelectorAll(%s)].filter(shown)",
		quote(candidates[role])), &found); err != nil {
		return "", err
	}
	var exact, part []string
	for _, e := range found {
		var is, label string
		one := map[string]any{"id": e[elementKey]}
		if err := errors.Join(g.ask("WebDriver:GetComputedLabel", one, &label), g.ask("WebDriver:GetComputedRole", one, &is)); err != nil {
			return "", err
		}
		// A field for a password has no role.
		if is != role && !(is == "" && role == "textbox") {
			continue
		}
		if label = strings.Join(strings.Fields(label), " "); label == name {
			exact = append(exact, e[elementKey])
		} else if strings.Contains(label, name) {
			part = append(part, e[elementKey])
		}
	}
	if len(exact) == 0 {
		exact = part
	}
	if len(exact) != 1 {
		return "", fmt.Errorf("there are %d", len(exact))
	}
	return exact[0], nil
}

// find waits for the only element with a role and a name.
func (g *gecko) find(role, name string) {
	g.t.Helper()
	g.until(fmt.Sprintf("find the %s %q", role, name), func() error {
		_, err := g.locate(role, name)
		return err
	})
}

// click clicks the only element with a role and a name, as soon as nothing covers it.
func (g *gecko) click(role, name string) {
	g.t.Helper()
	g.until(fmt.Sprintf("click the %s %q", role, name), func() error {
		id, err := g.locate(role, name)
		if err == nil {
			err = g.ask("WebDriver:ElementClick", map[string]any{"id": id}, nil)
		}
		return err
	})
}

// fill replaces the text of a field, key by key.
func (g *gecko) fill(role, label, text string) {
	g.t.Helper()
	g.click(role, label)
	g.until(fmt.Sprintf("fill %q", label), func() error {
		id, err := g.locate(role, label)
		if err == nil {
			err = g.ask("WebDriver:ExecuteScript", map[string]any{"script": "arguments[0].select()", "args": []any{map[string]string{elementKey: id}}}, nil)
		}
		if err == nil {
			err = g.ask("WebDriver:ElementSendKeys", map[string]any{"id": id, "text": text}, nil)
		}
		return err
	})
}

// Keys of WebDriver.
const (
	enterKey   = "\ue007"
	controlKey = "\ue009"
	escapeKey  = "\ue00c"
)

// press presses keys together in the focused element.
func (g *gecko) press(keys ...string) {
	g.t.Helper()
	var actions []any
	for _, key := range keys {
		actions = append(actions, map[string]string{"type": "keyDown", "value": key})
	}
	slices.Reverse(keys)
	for _, key := range keys {
		actions = append(actions, map[string]string{"type": "keyUp", "value": key})
	}
	g.do("WebDriver:PerformActions", map[string]any{"actions": []any{map[string]any{"type": "key", "id": "keyboard", "actions": actions}}}, nil)
}

// faults returns the exceptions, and violations of the content security policy, of the pages of the server.
func (g *gecko) faults() (faults []string) {
	g.t.Helper()
	g.do("Marionette:SetContext", map[string]any{"value": "chrome"}, nil)
	g.do("WebDriver:ExecuteScript", map[string]any{"args": []any{g.base}, "script": `
		return Services.console.getMessageArray().filter((m) => m instanceof Ci.nsIScriptError && m.sourceName?.startsWith(arguments[0]))
			.map((m) => m.errorMessage + ' at ' + m.sourceName + ':' + m.lineNumber)`}, &faults)
	g.do("Marionette:SetContext", map[string]any{"value": "content"}, nil)
	return faults
}
