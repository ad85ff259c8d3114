package providers_test

import (
	"testing"

	"reeve/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }
