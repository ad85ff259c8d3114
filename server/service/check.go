package service

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// checkTime is the time that a server gets to answer a health check.
const checkTime = 5 * time.Second

// Check asks the server that listens on an address, as it is in the configuration, whether it is
// ready. Its certificate is not verified, because the check is of the address and not of the name.
func Check(ctx context.Context, listen, basePath string, encrypted bool) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return err
	}

	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}

	scheme := "http"
	if encrypted {
		scheme = "https"
	}

	url := scheme + "://" + net.JoinHostPort(host, port) + basePath + "/health/ready"
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}

	client := http.Client{Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
	}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("no server answers: %w", err)
	}

	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}

	var answer struct {
		Msg string `json:"msg"`
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // the status says enough
	json.Unmarshal(text, &answer)
	return fmt.Errorf("%s answers %d %s", url, resp.StatusCode, answer.Msg)
}
