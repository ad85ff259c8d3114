package web

import (
	"strconv"
	"sync/atomic"

	"reeve/server/limit"
	"reeve/server/listen"
	"reeve/store"
	"reeve/store/errs"
)

// Limits of concurrent work. A browser sends a handful of requests at a time, so a
// user's share is enough for several windows and an address's share for an office. The
// share of one user or address leaves at least half for the others.
const (
	maxBodies           = 256 // JSON bodies being received
	MaxBodiesPerAddress = 96
	MaxBodiesPerUser    = 32

	maxLargeBodies = 1 // JSON bodies beyond MaxBody or MaxValues, each takes up to 200 MiB with its plan

	maxUploads           = 64 // each needs about 1 MiB of memory
	MaxUploadsPerAddress = 32
	MaxUploadsPerUser    = 16

	MaxPictures = 32

	MaxBackups        = 2 // each has a copy of data.db, if there is room, and keeps the bytes of deleted files
	MaxBackupsPerUser = 1

	maxTests     = 8 // requests that wait for the receiver of a webhook
	maxMailTests = 4 // requests that wait for the mail server
)

// limits are all limits of a server.
type limits struct {
	Connections *limit.Limit
	Bodies      *limit.Limit
	BodyMemory  *limit.Limit // bytes
	LargeBodies *limit.Limit // held until the response
	Uploads     *limit.Limit
	Pictures    *limit.Limit // being scaled, or waiting for memory and a core
	Backups     *limit.Limit
	Streams     *limit.Limit
	Tests       *limit.Limit // tests of webhooks
	MailTests   *limit.Limit
	Waiting     *limit.Limit // requests that wait for a position of the log of commits
	answers     *limit.Limit // bytes of responses being sent
	refusals    *limit.Limit // refused HTTP/2 requests
	Rate        *limit.Limit // counts transfers that were too slow; holds nothing
}

func newLimits(connections int) *limits {
	return &limits{
		Connections: limit.New("connections", int64(connections), errs.Say("too many connections")),
		Bodies:      limit.New("bodies", maxBodies, errs.Say("too many requests at once")),
		BodyMemory: limit.New("body_memory", BodyMemory,
			errs.Say("too many large requests at once")),
		LargeBodies: limit.New("large_bodies", maxLargeBodies,
			errs.Say("too many large requests at once")),
		Uploads: limit.New("uploads", maxUploads, errs.Say("too many uploads at once")),
		Pictures: limit.New("pictures", MaxPictures,
			errs.Say("too many images are being processed")),
		Backups: limit.New("backups", MaxBackups,
			errs.Say("too many backups are being downloaded")),
		Streams: limit.New("streams", int64(max(connections/2, listen.LeastConns)),
			errs.Say("too many event streams")),
		Tests: limit.New("webhook_tests", maxTests,
			errs.Say("too many test events are being sent")),
		MailTests: limit.New("mail_tests", maxMailTests,
			errs.Say("too many test mails are being sent")),
		Waiting: limit.New("waiting_reads", maxWaiting,
			errs.Say("too many requests are waiting for changes of other nodes")),
		answers: limit.New("answers", answerMemory,
			errs.Say("too many responses are being sent")),
		refusals: limit.New("refusals", maxRefusals,
			errs.Say("too many requests are being refused")),
		Rate: limit.New("transfer_rate", 0, errs.Say("the transfer is too slow")),
	}
}

func (l *limits) All() []*limit.Limit {
	return []*limit.Limit{l.Connections, l.Bodies, l.BodyMemory, l.LargeBodies, l.Uploads, l.Pictures, l.Backups,
		l.Streams, l.Tests, l.MailTests, l.Waiting, l.answers, l.refusals, l.Rate}
}

// held is an amount of a limit that was acquired.
type held struct {
	limit    *limit.Limit
	n        int64
	shares   []limit.Share
	released atomic.Bool
}

func (h *held) acquire() error { return h.limit.Acquire(h.n, h.shares...) }

// release releases the amount, once.
func (h *held) release() {
	if !h.released.Swap(true) {
		h.limit.Release(h.n, h.shares...)
	}
}

// Hold acquires n of a limit until the request ends.
func (req *Request) Hold(l *limit.Limit, n int64, shares ...limit.Share) error {
	h := &held{limit: l, n: n, shares: shares}
	if err := h.acquire(); err != nil {
		return err
	}
	req.held = append(req.held, h.release)
	return nil
}

// HoldOne acquires one of a limit until the request ends. The user, or without a token the address,
// has at most so many of it, and so has each of the groups.
func (req *Request) HoldOne(l *limit.Limit, most int64, groups ...string) error {
	client := req.ClientKey()
	if req.Session != nil {
		client = UserKey(req.Actor)
	}
	shares := []limit.Share{{Client: client, Most: most}}
	for _, g := range groups {
		shares = append(shares, limit.Share{Client: g, Most: most})
	}
	return req.Hold(l, 1, shares...)
}

// ClientKey returns the key of the request's address in limits.
func (req *Request) ClientKey() string { return limit.ClientKey(req.Addr) }

// release releases everything that the request holds.
func (req *Request) release() {
	for _, give := range req.held {
		give()
	}
	req.held = nil
}

// shares returns the shares of the request's address and of its user, if there is one.
func (req *Request) shares(perAddress, perUser int64) []limit.Share {
	all := []limit.Share{{Client: req.ClientKey(), Most: perAddress}}
	if req.Session != nil {
		all = append(all, limit.Share{Client: UserKey(req.Actor), Most: perUser})
	}
	return all
}

// UserKey returns the key of a user or an API key.
func UserKey(a *store.Actor) string {
	if a.Key != nil {
		return "key " + strconv.FormatUint(uint64(a.Key.ID), 10)
	}
	if a.By != nil {
		return UserKey(a.By) + " as " + strconv.FormatUint(uint64(a.ID), 10)
	}
	if a.App {
		return "app user " + strconv.FormatUint(uint64(a.ID), 10)
	}
	return "user " + strconv.FormatUint(uint64(a.ID), 10)
}
