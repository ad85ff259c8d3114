package redis

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"reeve/store"
)

// slow returns the new entries of the slow log, oldest first, and stores the highest ID
// in past.
func (w *watcher) slow(entries []any, past *totals) []Event {
	var all []Event
	newest := past.slowID
	for _, entry := range entries[:min(len(entries), maxRedisSlow)] {
		fields, _ := entry.([]any)
		if len(fields) < 4 {
			continue
		}
		id, ok := fields[0].(int64)
		if !ok || id <= past.slowID {
			continue
		}
		newest = max(newest, id)
		if past.slowKnown {
			all = append(all, w.slowEvent(fields))
		}
	}
	past.slowID, past.slowKnown = newest, true
	slices.Reverse(all)
	return all
}

// lastSecond is the end of the year 9999, the last that RFC 3339 can represent.
const lastSecond = 253402300799

func (w *watcher) slowEvent(fields []any) Event {
	e := Event{Type: slowlogType, Command: "?"}
	if at, ok := fields[1].(int64); ok && at > 0 && at <= lastSecond {
		e.ExecutedAt = store.TimeOf(time.Unix(at, 0))
	}
	if usec, ok := fields[2].(int64); ok {
		e.DurationMS = float64(max(usec, 0)) / 1000
	}
	words, _ := fields[3].([]any)
	if len(words) > 0 {
		if name := textOf(words[0]); validCommand.MatchString(name) {
			e.Command = w.target.clean(strings.ToUpper(name), maxRedisText)
		}
	}
	if len(words) > 1 && keyedCommands[e.Command] {
		e.Key = w.target.clean(textOf(words[1]), maxRedisKey)
	}
	if len(fields) > 4 {
		e.Client = w.target.clean(textOf(fields[4]), maxRedisText)
	}
	return e
}

func textOf(reply any) string {
	b, _ := reply.([]byte)
	return string(b)
}

// clean makes untrusted text safe to store and show: truncated, without control
// characters, and hidden whole if it contains the password sent to this server.
func (t *Target) clean(s string, limit int) string {
	if t.password != "" && strings.Contains(strings.ToLower(s), strings.ToLower(t.password)) {
		return "******"
	}
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
	return strings.ToValidUTF8(s[:min(len(s), limit)], "")
}

// keyedCommands are the commands whose first argument is a key. For other commands it
// may be a password, a script or a message, and modules add commands of their own.
var keyedCommands = func() map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(`
		APPEND BITCOUNT BITFIELD BITFIELD_RO BITPOS BLMOVE BLPOP BRPOP BRPOPLPUSH BZPOPMAX BZPOPMIN COPY DECR DECRBY DEL
		DUMP EXISTS EXPIRE EXPIREAT EXPIRETIME GEOADD GEODIST GEOHASH GEOPOS GEORADIUS GEORADIUS_RO GEORADIUSBYMEMBER
		GEORADIUSBYMEMBER_RO GEOSEARCH GEOSEARCHSTORE GET GETBIT GETDEL GETEX GETRANGE GETSET HDEL HEXISTS HGET HGETALL
		HINCRBY HINCRBYFLOAT HKEYS HLEN HMGET HMSET HRANDFIELD HSCAN HSET HSETNX HSTRLEN HVALS INCR INCRBY INCRBYFLOAT
		LINDEX LINSERT LLEN LMOVE LPOP LPOS LPUSH LPUSHX LRANGE LREM LSET LTRIM MGET MOVE MSET MSETNX PERSIST PEXPIRE
		PEXPIREAT PEXPIRETIME PFADD PFCOUNT PFMERGE PSETEX PTTL RENAME RENAMENX RESTORE RPOP RPOPLPUSH RPUSH RPUSHX SADD
		SCARD SDIFF SDIFFSTORE SET SETBIT SETEX SETNX SETRANGE SINTER SINTERSTORE SISMEMBER SMEMBERS SMISMEMBER SMOVE SORT
		SORT_RO SPOP SRANDMEMBER SREM SSCAN STRLEN SUBSTR SUNION SUNIONSTORE TOUCH TTL TYPE UNLINK XACK XADD XAUTOCLAIM
		XCLAIM XDEL XLEN XPENDING XRANGE XREVRANGE XTRIM ZADD ZCARD ZCOUNT ZDIFFSTORE ZINCRBY ZINTERSTORE ZLEXCOUNT ZMSCORE
		ZPOPMAX ZPOPMIN ZRANDMEMBER ZRANGE ZRANGEBYLEX ZRANGEBYSCORE ZRANGESTORE ZRANK ZREM ZREMRANGEBYLEX ZREMRANGEBYRANK
		ZREMRANGEBYSCORE ZREVRANGE ZREVRANGEBYLEX ZREVRANGEBYSCORE ZREVRANK ZSCAN ZSCORE ZUNIONSTORE`) {
		all[name] = true
	}
	return all
}()
