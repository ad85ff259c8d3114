package changes

import (
	"context"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

const (
	HeadEvery = time.Hour // interval of the program's log lines with the head of the change log
)

const (
	DenialEvery = time.Minute
)

// LogDenials writes an entry for each user and network that was refused since the last call, while
// such entries are within their share of the space.
func LogDenials(s *web.Server) error {
	counts, others := s.Denials.Take()
	if len(counts) == 0 || !s.DB.RoomForDenials() {
		return nil
	}

	write := func(origin store.Origin, details map[string]any) error {
		return s.DB.WithRecorder(nil).For("denials", nil).From(&origin).Update(store.System,
			func(tx *store.Tx) error {
				tx.LogAction(audit.Denied, details)
				return nil
			})
	}
	for d, n := range counts {
		origin := store.Origin{
			User: d.User,
			As:   d.As,
			Key:  d.Key,
			Operation: audit.Operation{
				Method: d.Route.Method,
				Route:  d.Route.Path,
				Title:  d.Route.Title,
			},
		}

		details := map[string]any{"count": n}
		if d.Network != "" {
			origin.Kind, details["network"] = "anonymous", d.Network
		}
		if err := write(origin, details); err != nil {
			return err
		}
	}

	if others == 0 {
		return nil
	}

	return write(store.Origin{
		Kind:      "anonymous",
		Operation: audit.Operation{Title: "Other operations"},
	}, map[string]any{"count": others})
}

// KeepChangeLog logs denials each minute, and the head of the change log each hour: a copy of the
// program's log elsewhere then shows whether entries were replaced.
func KeepChangeLog(s *web.Server, ctx context.Context) {
	minute, hour := time.NewTicker(DenialEvery), time.NewTicker(HeadEvery)
	defer minute.Stop()
	defer hour.Stop()
	for {
		select {
		case <-ctx.Done():
			s.ReportLog("denials", LogDenials(s))
			return
		case <-minute.C:
			s.ReportLog("denials", LogDenials(s))
		case <-hour.C:
			logHead(s)
		}
	}
}

func logHead(s *web.Server) {
	head := s.DB.LogHead()
	s.Log.Info().Msgf("head of the change log: %s:%d:%s", head.Generation, head.Seq, head.Hash)
}

// LogStart adds the version and the effective configuration to the change log.
func LogStart(s *web.Server) error {
	config := map[string]string{}
	for _, v := range s.Config.Effective {
		if v.Source != "default" {
			config[v.Key] = v.Value
		}
	}
	return s.DB.WithRecorder(nil).For("start", nil).Update(store.System, func(tx *store.Tx) error {
		tx.LogAction("start", map[string]any{"version": s.Config.Version, "config": config})
		return nil
	})
}

// ChangeLogHealth reports whether entries of the change log can be moved to segments and dropped.
func ChangeLogHealth(s *web.Server) web.Part {
	entries := int64(s.DB.LogHead().Seq)
	figures := map[string]int64{"entries": entries}
	if found := s.DB.FoundDamage().Log; len(found) > 0 {
		figures["damaged"] = int64(len(found))
		return web.Part{
			Name:    "change_log",
			State:   web.Degraded,
			Message: errs.Say("parts of the change log are damaged (%d found): %s; everything else can be read; keep the file as evidence, and restore a backup to get the entries back", len(found), found[0]),
			Figures: figures,
		}
	}
	if problem := s.DB.LogProblem(); problem != "" {
		return web.Part{
			Name:    "change_log",
			State:   web.Degraded,
			Message: errs.Say("entries cannot be moved or dropped: %s", problem),
			Figures: figures,
		}
	}

	return web.Part{
		Name:    "change_log",
		State:   web.Healthy,
		Message: errs.Say("%d entries", entries),
		Figures: figures,
	}
}
