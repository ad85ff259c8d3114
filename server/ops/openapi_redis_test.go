package ops_test

import (
	"fmt"
	"reflect"
	"testing"

	"reeve/server/openapi"
	"reeve/server/redis"
)

func TestRedisEvent_Schema(t *testing.T) {
	t.Parallel()
	s := &openapi.Schemas{Named: openapi.Object{}, Seen: map[string]string{}}
	s.Of(reflect.TypeFor[redis.Event]())
	properties := s.Named["RedisEvent"].(openapi.Object)["properties"].(openapi.Object)
	for name, schema := range properties {
		if _, has := schema.(openapi.Object)["description"]; !has {
			t.Errorf("%s is not described", name)
		}
	}
	required := fmt.Sprint(s.Named["RedisEvent"].(openapi.Object)["required"])
	if required != "[connection type]" || s.Named["RedisInfo"] == nil {
		t.Errorf("required: %s", required)
	}
}
