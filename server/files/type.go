package files

import (
	"bytes"
	"mime"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// sniffBytes is the number of bytes from which a file's type is detected: those that
// package mimetype reads.
const sniffBytes = 3072

// sniff returns the media type and the kind of a file by its first bytes. The name and the
// client's Content-Type are ignored, since they can be wrong or forged.
func sniff(head []byte) (media, kind string) {
	if bytes.HasPrefix(head[min(4, len(head)):], []byte("ftypcrx ")) { // which mimetype takes for a video
		return "image/x-canon-cr3", store.ImageFile
	}
	found := mimetype.Detect(head)
	return found.String(), kindOf(found)
}

// documents and archives are media types whose top-level type does not tell the kind.
var (
	documents = []string{
		"application/pdf", "application/rtf", "application/json", "application/epub+zip",
		"application/msword", "application/postscript",
		"application/vnd.ms-excel", "application/vnd.ms-powerpoint", "application/vnd.ms-outlook",
		"application/vnd.oasis.opendocument.text",
		"application/vnd.oasis.opendocument.spreadsheet",
		"application/vnd.oasis.opendocument.presentation",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		"application/vnd.openxmlformats-officedocument.presentationml.presentation",
	}
	archives = []string{
		"application/zip", "application/x-tar", "application/gzip", "application/x-bzip2",
		"application/x-xz", "application/zstd",
		"application/x-7z-compressed", "application/x-rar-compressed",
		"application/vnd.ms-cab-compressed", "application/x-lzip", "application/x-cpio",
	}
)

// kindOf returns the kind of a type. A subtype has the kind of its parent unless it has one
// of its own: a docx, which is a zip, is a document; a jar is an archive.
func kindOf(t *mimetype.MIME) string {
	for ; t != nil; t = t.Parent() {
		media, _, _ := strings.Cut(t.String(), ";")
		switch {
		case slices.Contains(documents, media) || strings.HasPrefix(media, "text/"):
			return store.DocumentFile
		case slices.Contains(archives, media):
			return store.ArchiveFile
		case strings.HasPrefix(media, "image/"):
			return store.ImageFile
		case strings.HasPrefix(media, "audio/"):
			return store.AudioFile
		case strings.HasPrefix(media, "video/"):
			return store.VideoFile
		}
	}
	return store.OtherFile
}

// fileLimit returns the maximum size of a file of a type in bytes, from the settings; an
// error if the type must not be uploaded.
func fileLimit(req *web.Request, name, media, kind string) (limit int64, err error) {
	err = req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		if !allows(store.FileTypes.Get(tx), media) {
			return errs.Field(errs.BadMedia, "file", "%s has the type %s, which is not allowed",
				name, media)
		}

		limit = int64(map[string]*store.NumberSetting{
			store.ImageFile: store.FileImageMB, store.AudioFile: store.FileAudioMB,
			store.VideoFile:   store.FileVideoMB,
			store.ArchiveFile: store.FileArchiveMB, store.DocumentFile: store.FileDocumentMB,
			store.OtherFile: store.FileOtherMB,
		}[kind].Get(tx)) << 20
		if limit == 0 {
			return errs.Field(errs.BadMedia, "file", "%s is of the kind %s, which is not allowed",
				name, errs.Noun(kind))
		}

		return nil
	})
	return limit, err
}

// allows reports whether a list of media types, with * for either half or both, contains
// media.
func allows(list, media string) bool {
	bare, _, err := mime.ParseMediaType(media)
	if err != nil {
		return false
	}
	for pattern := range strings.SplitSeq(list, ",") {
		pattern = strings.ToLower(strings.TrimSpace(pattern))
		if matched, err := path.Match(pattern, bare); pattern == "*" || err == nil && matched {
			return true
		}
	}
	return false
}

// MaxName is the maximum length of a file's name in bytes, as in most file systems.
const MaxName = 255

// cleanName returns a name that is safe to show and to save under: without path, control
// characters, invisible characters and characters that change the writing direction, and at most
// MaxName bytes long.
func cleanName(name string) string {
	name = strings.ToValidUTF8(name, "")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}

	name = strings.Map(func(r rune) rune {
		if !web.Forbidden(string(r), false).Empty() {
			return -1
		}
		return r
	}, name)
	if name = fold.Clean(name); fold.HasInvisible(name) {
		name = fold.Visible(name)
	}
	if strings.Trim(name, ". ") == "" {
		return "file"
	}
	if over := len(name) - MaxName; over > 0 {
		end := path.Ext(name)
		if len(end) > maxExt+1 {
			end = ""
		}
		stem := name[:len(name)-len(end)-over]
		for !utf8.ValidString(stem) {
			stem = stem[:len(stem)-1]
		}
		name = stem + end
	}

	return name
}

// maxExt is the maximum length of an extension.
const maxExt = 16

// ext returns the extension of a name in lower case, without the dot; "" for none. A name
// like .txt has none.
func ext(name string) string {
	end := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	if len(end) > maxExt || len(end)+1 == len(name) || strings.ContainsFunc(end, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) {
		return ""
	}
	return end
}
