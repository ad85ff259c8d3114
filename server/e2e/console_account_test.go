package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	"image/png"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
)

type account struct {
	Info struct {
		Nickname  string
		Email     string
		Sex       int
		AvatarURL string `json:"avatar_url"`
	}
}

func TestConsoleAccount(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	clerk := c.holder(server, "clerk") // a user without permissions has an account page, too
	p := signedInAt(t, server, clerk, "/")
	p.click("button", "clerk")
	p.click("menuitem", "My account")
	p.at("/account")
	p.title("My account · Reeve")
	p.fill("Display name", "Clara")
	p.fill("Email", "not an address")
	p.click("radio", "Female")
	p.expect(422, "/admin/info")
	p.click("button", "Save")
	p.until("have the fault at its field", func() error {
		return evaluate(p,
			"(() => { if (!document.querySelector('#email_help')?.innerText) throw new Error('it is not there') })()", nil)
	})
	p.audit()
	p.fill("Email", "clara@example.org")
	p.click("button", "Save")
	p.see("Saved.")
	p.find("button", "Clara")
	got := into[account](t, clerk.want(200, "GET", "/admin/info", "")).Info
	if got.Nickname != "Clara" || got.Email != "clara@example.org" || got.Sex != 2 {
		t.Errorf("the server has %+v", got)
	}

	clerk.want(200, "PUT", "/admin/info", object("nickname", "Elsewhere"))
	p.fill("Display name", "Here")
	p.expect(409, "/admin/info")
	p.click("button", "Save")
	p.see("Someone else changed this.")
	p.in("main").click("button", "Reload")
	p.find("button", "Elsewhere")
	p.fill("Display name", "Here again")
	p.click("button", "Save")
	p.find("button", "Here again")
}

// halves writes a picture that is red on its left and blue on its right, and returns its
// path.
func halves(t *testing.T) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 600, 200))
	for i := range img.Bounds().Dx() * img.Bounds().Dy() {
		c := color.RGBA{R: 255, A: 255}
		if i%600 >= 300 {
			c = color.RGBA{B: 255, A: 255}
		}
		img.SetRGBA(i%600, i/600, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return onDisk(t, "halves.png", b.String())
}

func TestConsoleAvatar(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/account")
	p.click("button", "Change photo")
	p.dialog().see("Choose a photo, or drop one here")
	p.audit()
	p.upload(onDisk(t, "text.png", "no picture"))
	p.see("This file isn’t a supported image.")
	p.in(".ant-modal button[data-drop]").drop(halves(t))
	p.in("canvas").tap()
	p.audit()
	for range 20 { // the crop moves to the right end, which is blue
		p.press("ArrowLeft")
	}

	p.press("=")
	p.width(320)
	p.noSidewaysScroll()
	p.width(1440)
	p.confirm("Save")
	p.see("Saved.")
	p.missing("button", "Choose another photo")
	address := into[account](t, c.want(200, "GET", "/admin/info", "")).Info.AvatarURL
	picture, _, err := image.Decode(bytes.NewReader(c.want(200, "GET", address, "").raw))
	if err != nil || picture.Bounds().Dx() != 256 || picture.Bounds().Dy() != 256 {
		t.Fatalf("%s: %v", address, err)
	}

	for _, at := range []image.Point{{2, 2}, {128, 128}, {253, 253}} {
		if r, _, b, _ := picture.At(at.X, at.Y).RGBA(); r > 0x1000 || b < 0xf000 {
			t.Errorf("at %v it is %v", at, picture.At(at.X, at.Y))
		}
	}

	p.until("show it", func() error {
		return evaluate(p,
			"(() => { if (document.querySelectorAll('.face img[src="+`"`+address+`"`+"]').length !== 2) throw new Error('it is not there') })()", nil)
	})
}

// TestConsoleAvatarFingers zooms with two fingers and moves the picture with one.
func TestConsoleAvatarFingers(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c := signedIn(t, server)
	p := signedInAt(t, server, c, "/account")
	p.width(320)
	p.click("button", "Change photo")
	p.upload(halves(t))
	var middle point
	p.until("find the picture", func() (err error) {
		middle, err = p.place(func() (runtime.RemoteObjectID, error) {
			return element(p, "css(root, 'canvas')")
		})
		return err
	})
	touch := func(does input.DispatchTouchEventType, fingers ...float64) { // beside the center
		t.Helper()
		points := []*input.TouchPoint{}
		for id, x := range fingers {
			points = append(points, &input.TouchPoint{
				X:  middle.X + x,
				Y:  middle.Y,
				ID: new(float64(id)),
			})
		}
		send(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{
			Type:        does,
			TouchPoints: points,
		})
	}

	zoom := func(want string) {
		t.Helper()
		p.until("have the zoom "+want, func() error {
			return evaluate(p,
				fmt.Sprintf(`((is) => { if (is !== %s) throw new Error('it is ' + is) })(css(root, '[role=slider]').ariaValueNow)`, quote(want)), nil)
		})
	}
	zoom("1")
	touch(input.DispatchTouchEventTypeTouchStart, -20, 20)
	touch(input.DispatchTouchEventTypeTouchMove, -30, 30)
	touch(input.DispatchTouchEventTypeTouchMove, -40, 40)
	zoom("2")
	touch(input.DispatchTouchEventTypeTouchMove, -20, 20)
	zoom("1")
	touch(input.DispatchTouchEventTypeTouchMove, -60, 60)
	zoom("3")
	touch(input.DispatchTouchEventTypeTouchEnd)

	// Near the center there is red and blue; further right everything is blue.
	touch(input.DispatchTouchEventTypeTouchStart, 100)
	touch(input.DispatchTouchEventTypeTouchMove, 0)
	touch(input.DispatchTouchEventTypeTouchMove, -100)
	touch(input.DispatchTouchEventTypeTouchEnd)
	zoom("3")
	p.confirm("Save")
	p.see("Saved.")
	address := into[account](t, c.want(200, "GET", "/admin/info", "")).Info.AvatarURL
	picture, _, err := image.Decode(bytes.NewReader(c.want(200, "GET", address, "").raw))
	if err != nil {
		t.Fatal(err)
	}
	if r, _, b, _ := picture.At(10, 128).RGBA(); r > 0x1000 || b < 0xf000 {
		t.Errorf("at its left it is %v", picture.At(10, 128))
	}
}

func TestConsoleOwnPassword(t *testing.T) {
	t.Parallel()
	server := start(t, t.TempDir())
	c, other := signedIn(t, server), signedIn(t, server)
	p := signedInAt(t, server, c, "/account/password") // where the form was before
	p.at("/account/security#password")
	p.click("button", "Change password")
	p.see("Required")
	p.fill("Current password", "not the password")
	p.fill("New password", "password1")
	p.fill("Confirm new password", "another one")
	p.click("button", "Change password")
	p.see("Passwords don’t match.")
	p.audit()
	p.fill("Confirm new password", "password1")
	p.expect(422, "/admin/password")
	p.click("button", "Change password")
	p.see("Too common. Choose another password.")
	fresh := "an entirely new phrase"
	p.fill("New password", fresh)
	p.fill("Confirm new password", fresh)
	p.click("button", "Change password")
	p.see("Wrong current password")
	p.fill("Current password", password)
	p.click("button", "Change password")
	p.see("Password changed.")
	other.want(401, "GET", "/admin/info", "")
	c.want(200, "GET", "/admin/info", "")
	newClient(t, server).signIn(fresh)
}
