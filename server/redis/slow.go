package redis

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gomodule/redigo/redis"

	"reeve/store/kv"
)

// slow returns the new entries of the slow log, oldest first.
func (w *watcher) slow(entries []redis.SlowLog) (all []Event) {
	next := w.nextSlow
	for _, e := range slices.Backward(entries) {
		if w.nextSlow >= 0 && e.ID >= w.nextSlow {
			all = append(all, w.slowEvent(&e))
		}
		next = max(next, e.ID+1)
	}
	w.nextSlow = max(next, 0)
	return all
}

// lastSecond is the end of the year 9999, the last that RFC 3339 can represent.
const lastSecond = 253402300799

func (w *watcher) slowEvent(entry *redis.SlowLog) Event {
	e := Event{
		Type:       slowlogType,
		Command:    "?",
		DurationMS: float64(max(entry.ExecutionTime, 0).Microseconds()) / 1000,
		Client:     w.target.clean(entry.ClientAddr, maxText),
	}
	if at := entry.Time.Unix(); at > 0 && at <= lastSecond {
		e.ExecutedAt = kv.TimeOf(entry.Time)
	}
	if len(entry.Args) > 0 && validCommand.MatchString(entry.Args[0]) {
		e.Command = w.target.clean(strings.ToUpper(entry.Args[0]), maxText)
	}
	if len(entry.Args) > 1 && keyedCommands[e.Command] {
		e.Key = w.target.clean(entry.Args[1], maxKey)
	}

	return e
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
