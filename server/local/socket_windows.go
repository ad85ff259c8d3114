package local

import (
	"context"
	"net"
)

// Listen listens for commands on this machine. A program can't learn here who is at the other end of a socket.
func Listen(dir string) (net.Listener, error) { return listenSecret(dir) }

// Dial connects to the server that runs on a data directory.
func Dial(ctx context.Context, dir string) (net.Conn, error) { return dialSecret(ctx, dir) }

func loginUser(int) (uid int, known bool) { return 0, false }
