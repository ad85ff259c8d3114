package ops

import (
	"bytes"
	"io/fs"
	"net/http"
	"path"
	"time"

	"github.com/julienschmidt/httprouter"

	"reeve/server/sdk"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// The client libraries are compiled-in files, see package sdk. Like those of the console they are
// not operations, so only their list is in the route table.
func ClientRoutes(o *Ops) []web.Route {
	return []web.Route{
		web.Read("/sdk", web.Public, "List the client libraries", o.listClients, web.Options{
			Note: "Returns the packages for TypeScript and Go that this server serves. No token is " +
				"needed.",
		}),
	}
}

type ClientsOut struct {
	Version    string    `json:"version" doc:"Version of the server and its clients"`
	TypeScript npmClient `json:"typescript" doc:"Package for npm"`
	Go         goClient  `json:"go" doc:"Module for Go"`
}

type npmClient struct {
	Package string `json:"package" doc:"Name of the package"`
	Path    string `json:"path" doc:"Path of the archive, for npm install"`
	Size    int64  `json:"size" doc:"Size of the archive in bytes"`
	SHA256  string `json:"sha256" doc:"SHA-256 of the archive, hexadecimal"`
}

type goClient struct {
	Module  string `json:"module" doc:"Path of the module"`
	Version string `json:"version" doc:"Version of the module"`
	Path    string `json:"path" doc:"Path of the proxy, for GOPROXY"`
}

func (o *Ops) listClients(_ *store.Tx, req *web.Request, _ *web.None) (*ClientsOut, error) {
	files, err := o.clients()
	if err != nil {
		return nil, err
	}
	npm := files.ByPath[files.NPM]
	return &ClientsOut{files.Version,
		npmClient{sdk.Package, req.Server.URL(sdkPath + files.NPM), int64(len(npm.Content)),
			npm.SHA256},
		goClient{sdk.Module, "v" + files.Version, req.Server.URL(sdkPath + "go")},
	}, nil
}

// packClients packs the clients in a file system, nil for none.
func packClients(files fs.FS, version string) (*sdk.Files, error) {
	if files == nil {
		return nil, errs.New(errs.NotFound, "unknown path")
	}
	return sdk.New(files, version)
}

const sdkPath = "/sdk/"

// ServeClients adds the files of the clients to a router whose NotFound is set.
func (o *Ops) ServeClients(router *httprouter.Router) {
	missing := router.NotFound
	send := func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		web.DocumentHeaders(w.Header())
		files, err := o.clients()
		if err != nil {
			missing.ServeHTTP(w, r)
			return
		}

		name := params.ByName("path")[1:]
		if name == files.Latest {
			w.Header().Set("Location", path.Base(files.NPM)) // relative: a proxy may serve this below a path of its own
			w.WriteHeader(http.StatusFound)
			return
		}

		file := files.ByPath[name]
		if file == nil {
			missing.ServeHTTP(w, r) // the go command asks the next proxy
			return
		}

		h := w.Header()
		h.Set("Content-Type", file.Type)
		h.Set("ETag", file.ETag)
		h.Set("Cache-Control", "public, no-cache")
		if file.Fixed {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		}

		content := bytes.NewReader(file.Content)
		web.CleanRange(r.Header, content) // seeking in memory does not fail
		http.ServeContent(w, r, "", time.Time{}, content)
	}
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		router.Handle(method, "/sdk/*path", send)
	}
}
