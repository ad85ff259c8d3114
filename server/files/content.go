package files

import (
	"cmp"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"reeve/server/picture"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

func ContentRoutes(d *Downloads) []web.Route {
	return []web.Route{
		web.Raw("/file/list/:id/content", "file.list.download", "Download a file", web.AnyMedia,
			d.downloadFile, web.Options{
				Ranges: true,
				Note:   "Images can be scaled down with thumb.",
			}),
		web.Raw("/file/list-zip", "file.list.download", "Download files as a ZIP archive", web.ZipMedia,
			zipFiles, web.Options{
				Note: "The files are not compressed. The connection ends without the end of the archive if one " +
					"of them cannot be read.",
			}),
		web.Write("POST", "/file/list/:id/link", "file.list.download", "Create a file link",
			d.linkFile, web.Options{
				LoggedAs: web.LinkAction,
				Note: "Returns a URL that downloads the file without a token, until it expires or the " +
					"session ends.",
			}),
		web.Raw("/file/signed/:id", web.Public, "Download a file by a signed link", web.AnyMedia,
			d.downloadSigned, web.Options{
				Ranges: true,
				Note:   "Takes the query of a URL that createFileLink has returned.",
			}),
		web.Raw("/media/:key", web.Public, "Download a public file", web.AnyMedia,
			d.downloadPublic, web.Options{
				Embeddable: true,
				Ranges:     true,
				Note:       "Takes the key in the URL of a public file or avatar.",
			}),
	}
}

// Downloads sends the contents of files, and scales pictures.
type Downloads struct {
	Links  *web.LinkSigner
	Images *picture.Scaler
}

func NewDownloads(db *store.DB) *Downloads {
	return &Downloads{web.NewLinkSigner(db, "files"), picture.NewScaler()}
}

// thumbIn is the input of routes that can return a scaled-down picture.
type thumbIn struct {
	Thumb string `query:"thumb" check:"enum=thumb" doc:"Maximum width and height in pixels; a PNG, JPEG, GIF or WebP image is scaled down to fit"`
}

type contentIn struct {
	web.ByID
	thumbIn
	Version store.ID `query:"version" doc:"ID of an earlier version of the file; absent for the current one"`
}

// seen returns the file, with the content of the version, if the caller may see it.
func (in *contentIn) seen(tx *store.Tx) (*store.File, error) {
	f, err := seenFile(tx, in.ID, false)
	if err != nil || in.Version == 0 {
		return f, err
	}
	v, err := store.VersionOf(tx, in.ID, in.Version)
	if err != nil {
		return nil, err
	}
	of := *f
	of.FileContent = v.FileContent
	return &of, nil
}

func (d *Downloads) downloadFile(req *web.Request, in *contentIn, w http.ResponseWriter) error {
	var f *store.File
	err := req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		f, err = in.seen(tx)
		return err
	})
	if err != nil {
		return err
	}
	return d.SendFile(req, w, f, in.Thumb, false)
}

// LinkTime is the maximum life of a signed link.
const LinkTime = 5 * time.Minute

type linkIn struct {
	web.ByID
	Version *store.ID `json:"version_id" doc:"ID of an earlier version of the file; absent for the current one"`
	Seconds *int64    `json:"seconds" check:"min=1,max=300" doc:"Life of the link in seconds, 300 by default; the link ends with the session that created it"`
}

type LinkOut struct {
	URL       string     `json:"url" doc:"URL of the file, relative to the origin of the server"`
	ExpiresAt store.Time `json:"expires_at" doc:"Time at which the link expires"`
}

func (d *Downloads) linkFile(tx *store.Tx, req *web.Request, in *linkIn) (*LinkOut, error) {
	signed := SignedLinkIn{}
	signed.ID = in.ID
	if _, err := signed.seen(tx); err != nil {
		return nil, err
	}
	if web.Set(&signed.Version, in.Version); signed.Version != 0 {
		if _, err := store.VersionOf(tx, in.ID, signed.Version); err != nil {
			return nil, errs.Field(errs.Invalid, "version_id", "must be the ID of an earlier version of the file")
		}
	}
	life := LinkTime
	if in.Seconds != nil {
		life = time.Duration(*in.Seconds) * time.Second
	}
	expires := tx.Now().Add(life)
	if req.Session == nil {
		return nil, errs.New(errs.Denied,
			"a link lasts as long as the session of a user; a command has none")
	}
	signed.Session, signed.Expires = req.Session.ID, strconv.FormatInt(int64(expires), 10)
	signature := d.Links.Sign(signed.Texts(req.Session.Actor.ID)...) // the user who signed in
	path := "/file/signed/" + signed.ID.String() + "?expires=" + signed.Expires + "&session=" + signed.Session.String() + "&signature=" + signature
	if signed.Version != 0 {
		path += "&version=" + signed.Version.String()
	}
	return &LinkOut{req.Server.URL(path), expires}, nil
}

type SignedLinkIn struct {
	contentIn
	Expires   string   `query:"expires" check:"required"`
	Session   store.ID `query:"session" check:"required"`
	Signature string   `query:"signature" check:"required"`
}

// Texts returns the signed texts of a link: which file, for whom, until when, and which version.
func (in *SignedLinkIn) Texts(user store.ID) []string {
	texts := []string{"file", in.ID.String(), user.String(), in.Session.String(), in.Expires}
	if in.Version != 0 {
		texts = append(texts, in.Version.String())
	}
	return texts
}

// downloadSigned sends a file to a client with a signed link, as long as the session
// that created the link is open and its user may read the file.
func (d *Downloads) downloadSigned(req *web.Request, in *SignedLinkIn,
	w http.ResponseWriter) error {
	dead := errs.New(errs.NotFound, "invalid or expired link; request a new one").Coded("link_expired")
	var f *store.File
	err := req.DB.View(store.Anonymous, func(tx *store.Tx) error {
		session, err := req.Server.Auth.SessionByID(tx, in.Session)
		if errs.Is(err, errs.Unauthenticated) {
			return dead
		}
		if err != nil {
			return err
		}

		blocked, err := session.Actor.Blocked(tx)
		if err != nil {
			return err
		}
		expires, err := strconv.ParseInt(in.Expires, 10, 64)
		if err != nil || blocked || !d.Links.Signed(in.Signature, in.Texts(session.Actor.ID)...) ||
			tx.Now() > store.Time(expires) || tx.Now().Add(LinkTime) < store.Time(expires) ||
			session.Actor.App || !session.Actor.HasPermission(tx, "file.list.download") {
			return dead
		}

		tx.ActAs(session.Actor)
		f, err = in.seen(tx)
		return err
	})
	if err != nil {
		return err
	}

	return d.SendFile(req, w, f, in.Thumb, false)
}

type mediaIn struct {
	thumbIn
	Key string `path:"key" doc:"Key from the URL of a public file or an avatar"`
}

// Values of Cache-Control for responses that need no token. A public file can be made
// private, which a cache notices within a minute; until then, revalidation by ETag
// costs no transfer. An avatar may be cached forever: its URL changes with the picture,
// is the only one, and is never made private.
const (
	publicCache = "public, max-age=60, must-revalidate"
	avatarCache = "public, max-age=31536000, immutable"
)

// downloadPublic sends a public file or an avatar.
func (d *Downloads) downloadPublic(req *web.Request, in *mediaIn, w http.ResponseWriter) error {
	var f *store.File
	var a *store.Avatar
	err := req.DB.View(store.Anonymous, func(tx *store.Tx) (err error) {
		if f, err = store.FileByKey.Get(tx, in.Key); errs.Is(err, errs.NotFound) {
			f = nil
			a, err = store.AvatarByKey.Get(tx, in.Key)
		}
		if errs.Is(err, errs.NotFound) {
			err = errs.New(errs.NotFound, "public file not found")
		}
		return err
	})
	if err != nil {
		return err
	}
	if f != nil {
		return d.SendFile(req, w, f, in.Thumb, true)
	}
	if in.Thumb != "" {
		return errs.Field(errs.Malformed, "thumb",
			"is not supported for avatars, which are small already")
	}

	blob, err := req.DB.OpenBlob(a.Digest)
	if err != nil {
		return err
	}

	return send(req, w, &content{
		src:    blob,
		etag:   a.Digest.String(),
		media:  a.MIME,
		inline: true,
		cache:  avatarCache,
	})
}

// SendFile sends a file, or a thumbnail of it.
func (d *Downloads) SendFile(req *web.Request, w http.ResponseWriter, f *store.File, thumb string,
	public bool) error {
	c, err := d.contentOf(req, f, thumb, public)
	if err != nil {
		return err
	}
	if public {
		c.cache = publicCache
	}
	return send(req, w, c)
}

func (d *Downloads) contentOf(req *web.Request, f *store.File, thumb string,
	public bool) (*content, error) {
	if public && publishable(f) != nil { // an older version allowed it to be public
		return nil, picture.ErrNotCleanable
	}
	if thumb != "" {
		return d.thumb(req, f, thumb)
	}

	blob, err := req.DB.OpenBlob(f.Digest)
	if err != nil {
		return nil, err
	}

	c := &content{src: blob, etag: f.Digest.String(), media: f.MIME, name: f.Name}
	if public && f.Kind == store.ImageFile && picture.CanClean(bareMedia(f)) {
		c.src, err = cleaned(req, f, blob)
		c.etag += "-public" // differs from the tag of the unmodified file
	}

	return c, err
}

// content is data to send to a client.
type content struct {
	src    io.ReadSeeker
	etag   string
	media  string
	name   string // file name to save under; "" for none
	inline bool   // generated by the server, so a browser may show it
	cache  string // Cache-Control; "" for a private file

	mu  sync.Mutex // several ranges are read by a goroutine of http.ServeContent, which may outlive it
	err error      // first error of src
}

// Read records the errors of src, which http.ServeContent drops.
func (c *content) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	if err != nil && err != io.EOF {
		c.mu.Lock()
		c.err = err
		c.mu.Unlock()
	}
	return n, err
}

func (c *content) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *content) Seek(offset int64, whence int) (int64, error) {
	return c.src.Seek(offset, whence)
}

// send sends content, or the requested range of it. Browsers must neither run nor show
// uploaded content: the headers tell them not to sniff the type, to save instead of
// open, and to allow nothing if they open it anyway.
func send(req *web.Request, w http.ResponseWriter, c *content) error {
	h := w.Header()
	h.Set("Content-Type", c.media)
	h.Set("Content-Disposition", web.Disposition(c.inline, c.name))
	h["Content-Security-Policy"] = web.FileSafe
	h.Set("Etag", web.ETag(c.etag))
	h.Set("Cache-Control", cmp.Or(c.cache, "private, no-cache"))
	h.Set("X-Request-Id", req.ID)
	if err := web.CleanRange(req.HTTP.Header, c); err != nil {
		return err
	}

	out := &contentWriter{ResponseWriter: w, control: http.NewResponseController(w)}
	http.ServeContent(out, req.HTTP, "", time.Time{}, c)
	switch {
	case out.code == http.StatusRequestedRangeNotSatisfiable:
		return errs.New(errs.BadRange, "the range is outside the file")
	case c.failure() != nil:
		for _, name := range []string{"Content-Range", "Content-Length", "Accept-Ranges"} {
			h.Del(name) // of a response that may not have begun
		}
		return c.failure()
	}

	out.begin()
	return nil
}

// contentWriter extends the write deadline as long as the client reads. It begins the
// response with the first bytes, so that an unreadable file can still be reported as an
// error, and suppresses the plain text with which http.ServeContent rejects a range.
type contentWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	next    time.Time // time of the next extension of the deadline
	code    int
	begun   bool
}

func (w *contentWriter) WriteHeader(code int) { w.code = code }

func (w *contentWriter) begin() {
	if !w.begun {
		w.begun = true
		w.ResponseWriter.WriteHeader(w.code)
	}
}

func (w *contentWriter) Write(p []byte) (int, error) {
	if w.code == http.StatusRequestedRangeNotSatisfiable {
		return len(p), nil
	}
	w.begin()
	if now := time.Now(); now.After(w.next) {
		w.next = now.Add(time.Second)
		w.control.SetWriteDeadline(now.Add(web.WriteTimeout)) // fails only without a connection, in a test
	}
	return w.ResponseWriter.Write(p)
}

// errNoThumbnail is returned for a thumbnail of a file that is not a picture.
var errNoThumbnail = errs.Field(errs.Invalid, "thumb",
	"thumbnails exist only for PNG, JPEG, GIF and WebP files")
