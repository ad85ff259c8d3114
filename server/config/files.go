package config

import (
	"errors"
	"fmt"
	"time"

	"reeve/store/kv"
	"reeve/store/s3"
)

// setFiles reads the bucket that has the contents of files, too.
func (c *Config) setFiles() error {
	text := func(name string) string { return c.values.String("files.s3." + name) }
	o := s3.Options{
		Endpoint:  text("endpoint"),
		Bucket:    text("bucket"),
		Region:    text("region"),
		Prefix:    text("prefix"),
		AccessKey: text("access_key"),
		CA:        text("ca"),
	}
	if c.values.Bool("files.s3.path_style") {
		o.Style = "path"
	}
	keep, err := c.days("files.s3.keep")
	if err != nil {
		return err
	}
	files := &kv.FileStorage{Cache: c.values.Int64("files.s3.cache"), Keep: keep}
	if keep < 24*time.Hour {
		return errors.New("files.s3.keep must be at least 24h")
	}
	if files.Cache < 0 {
		return errors.New("files.s3.cache must not be negative")
	}
	if o.Endpoint == "" && o.Bucket == "" {
		return nil
	}
	if o.SecretKey, err = secretText(text("secret_key")); err != nil {
		return fmt.Errorf("files.s3.secret_key: %w", err)
	}
	if o.Endpoint == "" || o.Bucket == "" || o.AccessKey == "" || o.SecretKey == "" {
		return errors.New("files.s3 needs endpoint, bucket, access_key and secret_key")
	}
	bucket, err := s3.New(o)
	if err != nil {
		return fmt.Errorf("files.s3: %w", err)
	}
	files.Storage, c.Files = bucket, files
	return nil
}
