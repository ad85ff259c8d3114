package webhook

import (
	"iter"

	"reeve/store/journal"
)

// Limits of what one call of Newest looks at.
const (
	maxLooked  = 20_000   // deliveries of all webhooks
	maxDecoded = 16 << 20 // bytes of the webhook's deliveries, which are decrypted
)

// reader returns what is needed to read deliveries of a webhook; no journal if there is
// none yet.
func (l *Log) reader(webhook uint64, key []byte) (*journal.Journal, *sealer, error) {
	s, err := newSealer(webhook, key)
	if err != nil {
		return nil, nil, err
	}
	j, err := l.use(false)
	return j, s, err
}

// Newest returns deliveries of a webhook with an ID below before (0 for all), newest
// first, at most most and at least one if there is one, that only accepts (nil for
// all). They lack Request and Response, which only sees.
//
// next is the value of before for the following ones; 0 if there are none. A call looks
// at a limited number of deliveries, so it may return fewer than most, or none, with
// next set. Deliveries that cannot be decrypted are skipped.
func (l *Log) Newest(webhook uint64, key []byte, before uint64, most int,
	only func(*Delivery) bool) (found []Delivery, next uint64, err error) {
	j, s, err := l.reader(webhook, key)
	if err != nil || j == nil {
		return nil, 0, err
	}

	most = max(most, 1)
	looked, bytes := 0, 0
	j.Newest(eventKind, before, func(e journal.Event) bool {
		if looked == l.maxLooked || bytes > l.maxDecoded {
			next = e.ID + 1
			return false
		}

		looked++
		if of, ok := webhookOf(e); !ok || of != webhook {
			return true
		}

		bytes += len(e.Body)
		d, ok := s.open(e)
		if !ok || only != nil && !only(&d) {
			return true
		}
		if len(found) == most {
			next = e.ID + 1
			return false
		}

		d.Request, d.Response = "", ""
		found = append(found, d)
		return true
	})
	return found, next, nil
}

// Get returns a delivery of a webhook. ok is false if there is none, or it cannot be
// decrypted.
func (l *Log) Get(webhook uint64, key []byte, id uint64) (d *Delivery, ok bool, err error) {
	j, s, err := l.reader(webhook, key)
	if err != nil || j == nil {
		return nil, false, err
	}
	e, ok := j.Get(eventKind, id)
	if of, isDelivery := webhookOf(e); !ok || !isDelivery || of != webhook {
		return nil, false, nil
	}
	opened, ok := s.open(e)
	if !ok {
		return nil, false, nil
	}
	return &opened, true, nil
}

// About yields the deliveries that name a person, newest first, with the keys that keys
// returns; nil if a webhook is gone, whose deliveries are skipped. It yields one error
// if the log cannot be read.
func (l *Log) About(person string, keys func(webhook uint64) []byte) iter.Seq2[Delivery, error] {
	return func(yield func(Delivery, error) bool) {
		j, err := l.use(false)
		if err != nil {
			yield(Delivery{}, err)
			return
		}
		if j == nil {
			return
		}

		quoted, sealers := quote(person), sealers{}
		j.Newest(eventKind, 0, func(e journal.Event) bool {
			webhook, ok := webhookOf(e)
			if !ok || !names(e.Body, quoted, person) {
				return true
			}
			if sealers[webhook] == nil {
				key := keys(webhook)
				if key == nil {
					return true
				}
				if _, err := sealers.of(webhook, key); err != nil {
					yield(Delivery{}, err)
					return false
				}
			}

			d, ok := sealers[webhook].open(e)
			return !ok || yield(d, nil)
		})
	}
}
