package server

import (
	"fmt"
	"reflect"
	"testing"

	"reeve/server/redis"
)

func TestRedisEventHasASchema(t *testing.T) {
	t.Parallel()
	s := &schemas{named: object{}, seen: map[string]string{}}
	s.of(reflect.TypeFor[redis.Event]())
	properties := s.named["RedisEvent"].(object)["properties"].(object)
	for name, schema := range properties {
		if _, has := schema.(object)["description"]; !has {
			t.Errorf("%s is not described", name)
		}
	}
	required := fmt.Sprint(s.named["RedisEvent"].(object)["required"])
	if required != "[connection type]" || s.named["RedisInfo"] == nil {
		t.Errorf("required: %s", required)
	}
}
