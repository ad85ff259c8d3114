package local

import (
	"context"
	"net"
)

const MaxSilent = maxSilent

func ListenSecret(dir string) (net.Listener, error) { return listenSecret(dir) }

func DialSecret(ctx context.Context, dir string) (net.Conn, error) { return dialSecret(ctx, dir) }
