package etcd

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// signIn lets a client with a user begin before etcd can be reached. The client signs its user in when it is made,
// and fails if it can't. Then it is told that etcd has no users, and with its first request that it needs to sign in,
// without sending the request: certificates can name another user, who has other permissions.
type signIn struct {
	needed bool        // whether there is a user with a password
	opened atomic.Bool // whether the client is made
	done   atomic.Bool // whether the user has signed in
}

// Methods of etcd.
const (
	authenticate = "/etcdserverpb.Auth/Authenticate"
	maintenance  = "/etcdserverpb.Maintenance/" // members tell their state to any client
)

// intercept is a grpc.UnaryClientInterceptor.
func (s *signIn) intercept(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker,
	options ...grpc.CallOption) error {
	switch {
	case method == authenticate:
		err := invoke(ctx, method, request, reply, conn, options...)
		if err == nil || errors.Is(rpctypes.Error(err), rpctypes.ErrAuthNotEnabled) {
			s.done.Store(true)
		} else if code := status.Code(err); !s.opened.Load() && (code == codes.Unavailable || code == codes.DeadlineExceeded) {
			return rpctypes.ErrGRPCAuthNotEnabled
		}
		return err
	case s.needed && !s.done.Load() && !strings.HasPrefix(method, maintenance):
		return rpctypes.ErrGRPCUserEmpty
	}
	return invoke(ctx, method, request, reply, conn, options...)
}
