package files_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"reeve/server/files"
	"reeve/server/picture/picturetest"
	"reeve/server/servertest"
)

// TestDownload_HostileFilesNotRendered covers hostile names, and every route that downloads.
func TestDownload_HostileFilesNotRendered(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	picture := picturetest.Quarters(64, 32, picturetest.Red, picturetest.Lime, picturetest.Blue,
		picturetest.White)
	script := "<script>alert(1)</script>"
	for name, c := range map[string]struct {
		body, media string
		picture     bool
	}{
		"SVG": {`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
			"image/svg+xml", false},
		"SVG in XML":     {`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg">` + script + `</svg>`, "image/svg+xml", false},
		"HTML":           {"<!DOCTYPE html><html>" + script + "</html>", "text/html", false},
		"XML":            {`<?xml version="1.0"?><x/>`, "text/xml", false},
		"script":         {"#!/usr/bin/env node\nalert(1)", "", false},
		"PDF and HTML":   {documentPDF + "<html>" + script + "</html>", "application/pdf", false},
		"GIF and script": {"GIF89a/*\x00\x00\x00*/=1;alert(1)//", "image/gif", false},
		"GIF with comment": {string(picturetest.InGIF(picturetest.GIF(t, picture),
			picturetest.Join([]byte{0x21, 0xFE}, picturetest.GIFBlocks([]byte(script))))),
			"image/gif", true},
		"JPEG and HTML": {string(picturetest.InJPEG(picturetest.JPEG(t, picture),
			picturetest.JPEGSegment(0xFE, []byte("<html>"+script)))), "image/jpeg", true},
		"PNG and ZIP": {string(picturetest.PNG(t, picture)) + "PK\x03\x04" + script,
			"image/png", true},
		"half a PNG": {string(picturetest.PNG(t, picture)[:60]), "image/png", false},
		"empty":      {"", "", false},
	} {
		f := in.Keep("owner", "photo.png", c.body, servertest.FieldPart("public", "1"))
		if media, _, _ := strings.Cut(f.MIME, ";"); c.media != "" && media != c.media {
			t.Errorf("%s: stored as %s", name, f.MIME)
		}

		var link files.LinkOut
		in.OK("POST", fmt.Sprintf("/file/list/%d/link", f.ID), "", "owner").Data(&link)
		for _, url := range []string{servertest.ContentURL(f.ID) + "?", link.URL + "&",
			f.URL + "?"} {
			for _, method := range []string{"GET", "HEAD"} {
				in.OK(method, url[:len(url)-1], "", "owner").Safe(false)
			}

			if len(c.body) > 0 {
				in.Get("GET", url[:len(url)-1], "owner", "Range", "bytes=0-3").Safe(false)
			}

			a := in.Call("GET", url+"thumb=64x64", "", "owner")
			if !c.picture {
				a.Names(422, "thumb")
				continue
			}

			a.Brief(200)
			a.Safe(true)
			if strings.Contains(a.Body, "<script>") || strings.Contains(a.Body, "PK\x03\x04") {
				t.Errorf("%s: %s still has the script", name, a.Sent)
			}
		}

		if a := in.Send(in.Multipart("/admin/avatar",
			strings.NewReader(servertest.MultipartBody(servertest.FilePart("photo.png", c.body))),
			"owner")); c.picture != (a.Code == 200) ||
			!c.picture && a.Code != 422 && a.Code != 415 {
			t.Errorf("%s as an avatar: %d %s", name, a.Code, a.Body)
		} else if c.picture {
			var out files.AvatarOut
			a.Data(&out)
			in.OK("GET", out.AvatarURL, "", "nobody").Safe(true)
		}
	}
}

// TestThumbnail_NoLocation checks that thumbnails have no place where the picture was taken. The
// unmodified file keeps it.
func TestThumbnail_NoLocation(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for name, data := range picturetest.WithMetadata(t,
		picturetest.Quarters(64, 32, picturetest.Red, picturetest.Lime, picturetest.Blue,
			picturetest.White), picturetest.LossyWebP) {
		f := in.Keep("owner", name, string(data))
		var out files.AvatarOut
		in.Send(in.Multipart("/admin/avatar",
			strings.NewReader(servertest.MultipartBody(servertest.FilePart(name, string(data)))),
			"owner")).Data(&out)
		if whole := in.OK("GET", servertest.ContentURL(f.ID), "", "owner").Body; whole != string(data) {
			t.Errorf("%s: the file has changed", name)
		}

		for _, url := range []string{servertest.ContentURL(f.ID) + "?thumb=64x64", out.AvatarURL} {
			small := in.OK("GET", url, "", "owner").Body
			for _, mark := range picturetest.Metadata {
				if strings.Contains(small, mark) {
					t.Errorf("%s: %s has %q", name, url, mark)
				}
			}
		}
	}
}

// TestPixelBomb_RefusedAtOnce: one can be uploaded as a file, but is never decoded, for which
// the smallest of them takes a gigabyte.
func TestPixelBomb_RefusedAtOnce(t *testing.T) {
	in := servertest.Start(t)
	small := picturetest.JPEG(t,
		picturetest.Quarters(64, 32, picturetest.Red, picturetest.Lime, picturetest.Blue,
			picturetest.White))
	for name, data := range map[string][]byte{
		"a png":  picturetest.PNGHeader(30_000, 30_000, 8, 6, 0),
		"a jpeg": picturetest.JPEGSized(t, small, 65_000, 65_000),
		"a gif": picturetest.Join(picturetest.GIFHeader(60_000, 60_000),
			picturetest.GIFFrame(0, 0, 60_000, 60_000, 2, 0x44, 1)),
		"a webp": picturetest.WebP(picturetest.WebPCanvas(0, 16_000, 16_000),
			picturetest.WebPChunks(picturetest.Fixture(t, picturetest.LosslessWebP))),
		"an end": binary.BigEndian.AppendUint32([]byte(imageHead), 13),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f := in.Keep("owner", name, string(data), servertest.FieldPart("public", "1"))
		for _, url := range []string{servertest.ContentURL(f.ID), f.URL} {
			in.Call("GET", url+"?thumb=800x800", "", "owner").Names(422, "thumb")
		}
		in.Send(in.Multipart("/admin/avatar",
			strings.NewReader(servertest.MultipartBody(servertest.FilePart(name, string(data)))),
			"owner")).Names(422, "file")
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%s took %d bytes", name, took)
		}
	}
}
