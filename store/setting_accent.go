package store

import (
	"fmt"
	"math"
	"regexp"
	"strconv"

	"reeve/store/errs"
)

// The accent colors are those of the console's buttons, links and selected rows. Both have to be
// legible as text, so their contrast is checked.

// accentContrast is the minimum contrast of an accent color, as WCAG defines it. Text needs 4.5; the
// rest is for the tinted backgrounds of selected rows.
const accentContrast = 5.5

// Backgrounds of the console in light and dark mode.
const (
	lightBackground = "#ffffff"
	darkBackground  = "#1f2227" // of menus, the lightest one
)

// Accents returns the accent colors in light and dark mode, as #rrggbb; "" for the console's own.
// Without a setting for dark mode, it is the one of light mode, as much lighter as it has to be.
func Accents(tx *Tx) (light, dark string) {
	light, dark = longColor(SiteAccent.Get(tx)), longColor(SiteAccentDark.Get(tx))
	if dark == "" && light != "" {
		dark = lightened(light)
	}
	return light, dark
}

// AccentStyle returns the rule of a style sheet that sets --accent and --accent-dark to the accent
// colors; "" if neither is set.
func AccentStyle(tx *Tx) string {
	light, dark := Accents(tx)
	rule := ""
	if light != "" {
		rule = "--accent:" + light + ";"
	}
	if dark != "" {
		rule += "--accent-dark:" + dark + ";"
	}
	if rule == "" {
		return ""
	}
	return ":root{" + rule + "}"
}

// accent declares an optional color that is legible on a background.
func accent(group, key, background string) *TextSetting {
	return &TextSetting{declare(Builtin{
		Group:      group,
		Key:        key,
		Type:       "color",
		Props:      []Prop{},
		Optional:   true,
		background: background,
	})}
}

// checkAccent returns an error if a text is no legible accent color, for a setting that is one.
func (b *Builtin) checkAccent(text string) error {
	if b.background == "" || text == "" {
		return nil
	}
	if !opaque.MatchString(text) {
		return errs.Say("must be a color without transparency, such as #0958d9")
	}
	if c := contrast(channels(longColor(text)), channels(b.background)); c < accentContrast {
		return errs.Say("must have a contrast of at least %s:1 to the background %s; it has %s:1",
			brief(accentContrast), b.background, brief(c))
	}
	return nil
}

// brief returns a contrast with one digit, not rounded up.
func brief(c float64) string { return strconv.FormatFloat(math.Floor(c*10)/10, 'f', 1, 64) }

var opaque = regexp.MustCompile(`^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$`)

// longColor returns #rgb as #rrggbb, and any other text as it is.
func longColor(text string) string {
	if len(text) != 4 {
		return text
	}
	return fmt.Sprintf("#%c%c%c%c%c%c", text[1], text[1], text[2], text[2], text[3], text[3])
}

// channels returns red, green and blue of #rrggbb, from 0 to 255.
func channels(color string) (rgb [3]float64) {
	for i := range rgb {
		n, _ := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8) // 0 for what is no color, as in a pattern that is checked
		rgb[i] = float64(n)
	}
	return rgb
}

// contrast returns the contrast ratio of two colors, from 1 to 21.
func contrast(a, b [3]float64) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the relative luminance of a color, from 0 to 1.
func luminance(rgb [3]float64) (sum float64) {
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		c := rgb[i] / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

// lightened returns a color mixed with as much white as makes it legible in dark mode.
func lightened(color string) string {
	rgb := channels(color)
	for contrast(rgb, channels(darkBackground)) < accentContrast {
		for i := range rgb {
			rgb[i] = math.Ceil(rgb[i] + (255-rgb[i])/20)
		}
	}
	return fmt.Sprintf("#%02x%02x%02x", int(rgb[0]), int(rgb[1]), int(rgb[2]))
}
