package web

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// AnyMedia is the media type of responses that can have any type.
const AnyMedia = "*/*"

// LinkAction is the action of links in the change log. A link changes nothing, so that an actor who
// impersonates a user read-only can create one.
const LinkAction = "create_link"

// CleanRange changes the header Range of a request where http.ServeContent does not follow RFC
// 9110: another unit is ignored, and so is a range of an empty file and one of too many parts; the
// last 0 bytes cannot be sent.
func CleanRange(h http.Header, src io.Seeker) error {
	header := h.Get("Range")
	if header == "" {
		return nil
	}

	size, err := src.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}

	unit, set, _ := strings.Cut(header, "=")
	if !strings.EqualFold(strings.TrimSpace(unit), "bytes") || size == 0 ||
		strings.Count(set, ",") >= MaxRanges {
		h.Del("Range")
		return nil
	}

	ranges := strings.Split(set, ",")
	for i, part := range ranges {
		if digits, suffix := strings.CutPrefix(strings.TrimSpace(part), "-"); suffix &&
			digits != "" && strings.Trim(digits, "0") == "" {
			ranges[i] = strconv.FormatInt(size, 10) + "-" // a range that begins after the end, too
		}
	}

	h.Set("Range", "bytes="+strings.Join(ranges, ","))
	return nil
}

// Disposition returns a Content-Disposition by RFC 6266: the name in ASCII for old
// clients, with _ for other characters, and the exact name for others.
func Disposition(inline bool, name string) string {
	kind := "attachment"
	if inline {
		kind = "inline"
	}
	if name == "" {
		return kind
	}

	var plain, exact strings.Builder
	for _, r := range name {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\%`, r) {
			r = '_'
		}
		plain.WriteRune(r)
	}

	for _, b := range []byte(name) {
		if b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' ||
			strings.IndexByte("!#$&+-.^_`|~", b) >= 0 {
			exact.WriteByte(b)
		} else {
			exact.WriteString("%" + strings.ToUpper(strconv.FormatUint(uint64(b)|0x100, 16)[1:]))
		}
	}

	if plain.String() == name && exact.String() == name {
		return kind + `; filename="` + name + `"`
	}

	return kind + `; filename="` + plain.String() + `"; filename*=UTF-8''` + exact.String()
}

// MediaPath is the path of public files and avatars, before the key.
const MediaPath = "/media/"

// ETag returns text as an entity tag, in quotes.
func ETag(text string) string { return strconv.Quote(text) }

// MaxRanges is the maximum number of ranges in one request. Each can require reading
// another chunk, and thousands fit into a header.
const MaxRanges = 16

const ZipMedia = "application/zip"

// DigestTag returns the ETag of a text.
func DigestTag(text []byte) string {
	sum := sha256.Sum256(text)
	return ETag(hex.EncodeToString(sum[:12]))
}
