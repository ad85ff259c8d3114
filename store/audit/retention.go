package audit

import "time"

// Prune drops the oldest segments, as wholes: those whose newest entry is older than maxAge, and,
// while the files have more than maxBytes, those whose newest entry is older than minAge. 0 for
// maxAge or maxBytes means no limit. blocked reports that the files have more than maxBytes
// because the oldest segment is younger than minAge. The time of a damaged segment is that at
// which the next one begins; if that is unknown, it is not dropped.
func (l *Log) Prune(now time.Time, maxAge, minAge time.Duration,
	maxBytes int64) (dropped []Info, blocked bool, err error) {
	for {
		all := l.Segments()
		if len(all) == 0 {
			return dropped, false, nil
		}

		age, total := ageOf(all, now), int64(0)
		for _, s := range all {
			total += s.Bytes
		}

		tooLarge := maxBytes > 0 && total > maxBytes
		if (maxAge == 0 || age <= maxAge) && (!tooLarge || age <= minAge) {
			return dropped, tooLarge, nil
		}
		if err := l.Drop(all[0].First); err != nil {
			return dropped, tooLarge, err
		}

		dropped = append(dropped, all[0])
	}
}

// ageOf returns the age of the newest entry of the first segment; 0 if it is unknown.
func ageOf(all []Info, now time.Time) time.Duration {
	newest := all[0].To
	if all[0].Err != nil {
		if len(all) == 1 || all[1].Err != nil {
			return 0
		}
		newest = all[1].From
	}
	return now.Sub(time.UnixMicro(newest))
}
