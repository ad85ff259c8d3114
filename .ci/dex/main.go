// Dex serves the OpenID provider Dex at the address of its issuer, with everything in memory. The
// command of Dex itself needs versions of database drivers that can no longer be downloaded. Its package
// server, used here, is what signs people in.
//
//	dex '{"issuer":"http://127.0.0.1:5556","clients":[...],"passwords":[...]}'
package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"runtime"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
)

type config struct {
	Issuer    string             `json:"issuer"`
	Clients   []storage.Client   `json:"clients"`
	Passwords []storage.Password `json:"passwords"`
}

func main() {
	log := logrus.New()
	log.Fatal(serve(log))
}

func serve(log *logrus.Logger) error {
	if len(os.Args) != 2 {
		return errors.New("the argument is the configuration in JSON")
	}
	var c config
	if err := json.Unmarshal([]byte(os.Args[1]), &c); err != nil {
		return err
	}
	issuer, err := url.Parse(c.Issuer)
	if err != nil {
		return err
	}

	s := storage.WithStaticClients(memory.New(log), c.Clients)
	s = storage.WithStaticPasswords(s, c.Passwords, log)
	s = storage.WithStaticConnectors(s, []storage.Connector{
		{ID: server.LocalConnector, Name: "Email", Type: server.LocalConnector},
	})
	dex, err := server.NewServer(context.Background(), server.Config{
		Issuer:             c.Issuer,
		Storage:            s,
		Web:                server.WebConfig{Dir: pages()},
		Logger:             log,
		PrometheusRegistry: prometheus.NewRegistry(),
	})
	if err != nil {
		return err
	}
	return http.ListenAndServe(issuer.Host, dex)
}

// pages returns the directory of Dex's pages, which is in the module cache beside its sources.
func pages() string {
	build := runtime.FuncForPC(reflect.ValueOf(server.NewServer).Pointer())
	source, _ := build.FileLine(build.Entry())
	return filepath.Join(filepath.Dir(source), "..", "web")
}
