package ops_test

import (
	"fmt"
	"image"
	"testing"

	"reeve/server/monitor"
	"reeve/server/ops"
	"reeve/server/picture/picturetest"
	"reeve/server/servertest"
	"reeve/store"
)

func TestMonitorEvents_HashAndImageTimes(t *testing.T) {
	in := servertest.Start(t)
	in.Call("POST", "/admin/login", `{"username":"admin","password":"wrong wrong"}`, "nobody").Brief(401)
	var f struct{ Data []struct{ ID store.ID } }
	in.Posts("owner",
		servertest.FilePart("a.png",
			string(picturetest.PNG(t, image.NewNRGBA(image.Rect(0, 0, 300, 300)))))).Data(&f)
	in.OK("GET", fmt.Sprintf("/file/list/%d/content?thumb=64x64", f.Data[0].ID), "", "owner")
	in.Flush()
	for route, want := range map[string][2]bool{
		"/admin/login":           {true, false},
		"/file/list/:id/content": {false, true},
		"/file/list":             {false, false},
	} {
		var out ops.MonitorPage[monitor.RequestEvent]
		in.OK("GET", "/system/monitor/request?route="+route, "", "owner").Data(&out)
		if len(out.Data) != 1 || out.Data[0].HashMS > 0 != want[0] ||
			out.Data[0].ImageMS > 0 != want[1] || out.Data[0].HashWaitMS < 0 {
			t.Errorf("%s: %+v", route, out.Data)
		}
	}
}
