package server

import (
	"mime"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gabriel-vasile/mimetype"
	"reeve/store"
	"reeve/store/errs"
)

// sniffBytes is how much of a file its type is told by: what mimetype looks at.
const sniffBytes = 3072

// sniff tells the media type and the kind of a file by how it begins. The name
// and what the client says it is have no say.
func sniff(head []byte) (media, kind string) {
	found := mimetype.Detect(head)
	return found.String(), kindOf(found)
}

// documents and archives are media types whose first half does not tell the kind.
var (
	documents = []string{
		"application/pdf", "application/rtf", "application/json", "application/epub+zip", "application/msword", "application/postscript",
		"application/vnd.ms-excel", "application/vnd.ms-powerpoint", "application/vnd.ms-outlook",
		"application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.spreadsheet", "application/vnd.oasis.opendocument.presentation",
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		"application/vnd.openxmlformats-officedocument.presentationml.presentation",
	}
	archives = []string{
		"application/zip", "application/x-tar", "application/gzip", "application/x-bzip2", "application/x-xz", "application/zstd",
		"application/x-7z-compressed", "application/x-rar-compressed", "application/vnd.ms-cab-compressed", "application/x-lzip", "application/x-cpio",
	}
)

// kindOf is a type's kind. A type that is a special case of another has its kind,
// unless it has one of its own: a docx is a document, a jar an archive.
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

// fileLimit is how many bytes a file of a type may have, by the settings; an
// error when it may not be uploaded at all.
func (req *Request) fileLimit(name, media, kind string) (limit int64, err error) {
	err = req.db.View(store.Nobody, func(tx *store.Tx) error {
		if !allows(store.FileTypes.Get(tx), media) {
			return errs.Field(errs.BadMedia, "file", "%s is of the type %s, which is not allowed here", name, media)
		}
		limit = int64(map[string]*store.NumberSetting{
			store.ImageFile: store.FileImageMB, store.AudioFile: store.FileAudioMB, store.VideoFile: store.FileVideoMB,
			store.ArchiveFile: store.FileArchiveMB, store.DocumentFile: store.FileDocumentMB, store.OtherFile: store.FileOtherMB,
		}[kind].Get(tx)) << 20
		if limit == 0 {
			return errs.Field(errs.BadMedia, "file", "%s is of the kind %s, which is not allowed here", name, kind)
		}
		return nil
	})
	return limit, err
}

// allows tells whether a list of media types, with * for either half or both, has one.
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

// maxName is how long a file's name may be, in bytes: what file systems take.
const maxName = 255

// cleanName makes a name that is safe to show and to save under: no path, no
// control characters, nothing that turns the writing direction, not too long.
func cleanName(name string) string {
	name = strings.ToValidUTF8(name, "")
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		if forbidden(string(r), false) != "" {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	if strings.Trim(name, ". ") == "" {
		return "file"
	}
	if over := len(name) - maxName; over > 0 {
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

// maxExt is how long an extension may be to be called one.
const maxExt = 16

// ext is the extension of a name, in lower case and without its dot; "" for none,
// as a name has that is nothing else.
func ext(name string) string {
	end := strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	if len(end) > maxExt || len(end)+1 == len(name) || strings.ContainsFunc(end, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return ""
	}
	return end
}
