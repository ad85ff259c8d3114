package etcd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Errors about etcd. Each is in the chain of the error that a method returns.
var (
	ErrUnreachable = errors.New("etcd cannot be reached")
	ErrTimeout     = errors.New("etcd did not answer in time")
	ErrNoLeader    = errors.New("etcd has no leader: more than half of its members must be in contact")
	ErrNoSpace     = errors.New("etcd has no space: its quota is used up")
	ErrTooLarge    = errors.New("the entry is larger than etcd accepts")
	ErrBusy        = errors.New("etcd has too many requests")
	ErrSignIn      = errors.New("etcd does not accept the user and password")
	ErrPermission  = errors.New("the user of etcd may not do this: it needs to read and write all keys with the prefix")
	ErrLease       = errors.New("the lease of this node has ended, or its key was removed")
)

// Errors about the log. After one of them a node must not serve: its data may not be those of the
// cluster. ErrTrimmed is the harmless one: this node was away for too long.
var (
	ErrNoHead   = errors.New("etcd has no log: the cluster was not initialized")
	ErrCluster  = errors.New("this is another etcd cluster")
	ErrBehind   = errors.New("etcd is behind this node: it may have been restored from a snapshot")
	ErrEpoch    = errors.New("the log has another epoch")
	ErrDiverged = errors.New("the log is not the one that this node followed")
	ErrGap      = errors.New("the log has a gap or a damaged entry")
	ErrTrimmed  = errors.New("entries that this node lacks were deleted: it needs a base copy")
)

// fatal reports whether following the log again cannot help.
func fatal(err error) bool {
	for _, e := range []error{ErrNoHead, ErrCluster, ErrBehind, ErrEpoch, ErrDiverged, ErrGap, ErrTrimmed, ErrSignIn, ErrPermission} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// hopeless reports whether adding an entry again cannot help.
func hopeless(err error) bool {
	return fatal(err) || errors.Is(err, ErrTooLarge) || errors.Is(err, ErrNoSpace)
}

// names are errors of the client.
var names = map[error]error{
	rpctypes.ErrNoLeader:                   ErrNoLeader,
	rpctypes.ErrTimeout:                    ErrTimeout,
	rpctypes.ErrTimeoutDueToLeaderFail:     ErrTimeout,
	rpctypes.ErrTimeoutDueToConnectionLost: ErrTimeout,
	rpctypes.ErrNoSpace:                    ErrNoSpace,
	rpctypes.ErrRequestTooLarge:            ErrTooLarge,
	rpctypes.ErrTooManyRequests:            ErrBusy,
	rpctypes.ErrAuthFailed:                 ErrSignIn,
	rpctypes.ErrUserEmpty:                  ErrSignIn,
	rpctypes.ErrInvalidAuthToken:           ErrSignIn,
	rpctypes.ErrPermissionDenied:           ErrPermission,
	rpctypes.ErrLeaseNotFound:              ErrLease,
}

// named adds the error of this package to an error of the client.
func named(err error) error {
	if err == nil {
		return nil
	}
	for of, name := range names {
		if errors.Is(rpctypes.Error(err), of) {
			return name
		}
	}
	switch code := status.Code(err); {
	case errors.Is(err, context.Canceled), code == codes.Canceled:
		return fmt.Errorf("%w: %w", ErrTimeout, context.Canceled)
	case errors.Is(err, context.DeadlineExceeded), code == codes.DeadlineExceeded:
		return ErrTimeout
	case code == codes.ResourceExhausted && strings.Contains(err.Error(), "larger than max"):
		return ErrTooLarge // for gRPC, before etcd sees it
	case code == codes.Unavailable:
		return fmt.Errorf("%w: %s", ErrUnreachable, rpctypes.ErrorDesc(err))
	}
	return err
}

// refused reports whether an error says for certain that a transaction had no effect: etcd checks for
// these before it applies one. ErrNoSpace does not: the transaction that exceeds the quota is applied
// and answered with this error.
func refused(err error) bool {
	for _, e := range []error{ErrNoLeader, ErrTooLarge, ErrBusy, ErrSignIn, ErrPermission} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
