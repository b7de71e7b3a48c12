package autodltest

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const token = "invented-token"

var noon = time.Date(2026, 9, 5, 4, 0, 0, 0, time.UTC)

type caller struct {
	*testing.T
	*Cloud
	url string
	now time.Time
}

func setup(t *testing.T, o Options) *caller {
	c := &caller{T: t, now: noon}
	o.Token, o.Now = token, func() time.Time { return c.now }
	c.Cloud = New(o)
	srv := httptest.NewServer(c.Cloud)
	t.Cleanup(srv.Close)
	c.url = srv.URL
	return c
}

// call sends a request by net/http alone and gives status and code.
func (c *caller) call(method, path, body string, headers ...string) (int, string, json.RawMessage) {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	req.Header.Set("Authorization", token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for n := 0; n < len(headers); n += 2 {
		req.Header.Set(headers[n], headers[n+1])
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		c.Fatal(err)
	}
	var a struct {
		Code string          `json:"code"`
		Data json.RawMessage `json:"data"`
	}
	_ = json.Unmarshal(data, &a) // a problem is answered with plain text
	return resp.StatusCode, a.Code, a.Data
}

const pro = "/api/v1/dev/instance/pro/"

func TestTheDoubleIsStrict(t *testing.T) {
	for _, tc := range []struct {
		name, method, path, body string
		headers                  []string
		problem                  string
	}{
		{"Bearer before the token", "POST", pro + "list", `{"page_index":1,"page_size":1}`, []string{"Authorization", "Bearer " + token}, "without Bearer"},
		{"a path that does not exist", "POST", pro + "terminate", `{}`, nil, "no such path"},
		{"a GET list", "GET", pro + "list", ``, nil, "method must be POST"},
		{"a POST status", "POST", pro + "status", `{}`, nil, "method must be GET"},
		{"an unknown field", "POST", pro + "power_off", `{"instance_uuid":"pro-1","force":true}`, nil, "unknown field"},
		{"two JSON values", "POST", pro + "power_off", `{"instance_uuid":"pro-1"}{}`, nil, "more than one"},
		{"a body that is a form", "POST", pro + "release", `instance_uuid=pro-1`, []string{"Content-Type", "application/x-www-form-urlencoded"}, "Content-Type"},
		{"a query on a POST", "POST", pro + "release?instance_uuid=pro-1", ``, nil, "no query"},
		{"another key in the query", "GET", pro + "status?uuid=pro-1", ``, nil, "instance_uuid only"},
		{"query and body together", "GET", pro + "status?instance_uuid=pro-1", `{"instance_uuid":"pro-1"}`, nil, "and in a body"},
		{"an unknown field of a create", "POST", pro + "create", `{"payload":"gpu"}`, nil, "unknown field"},
		{"a GET of the stock", "GET", "/api/v1/dev/machine/region/gpu_stock", ``, nil, "method must be POST"},
		{"something in the balance's body", "POST", "/api/v1/dev/wallet/balance", `{"x":1}`, nil, "unknown field"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := setup(t, Options{})
			status, _, _ := c.call(tc.method, tc.path, tc.body, tc.headers...)
			if p := c.Problems(); status != 400 || len(p) != 1 || !strings.Contains(p[0], tc.problem) {
				t.Errorf("status %d and problems %q, want 400 and one saying %q", status, p, tc.problem)
			}
		})
	}
}

func TestTheDoubleAnswersAsThePlatform(t *testing.T) {
	for _, tc := range []struct {
		name, method, path, body string
		o                        Options
		before                   func(c *caller)
		headers                  []string
		code                     string
	}{
		{name: "another token", method: "POST", path: "/api/v1/dev/wallet/balance", headers: []string{"Authorization", "old"}, code: "AuthorizeFailed"},
		{name: "a balance without a body", method: "POST", path: "/api/v1/dev/wallet/balance", code: "Success"},
		{name: "a balance with an empty object", method: "POST", path: "/api/v1/dev/wallet/balance", body: `{}`, code: "Success"},
		{name: "a list without page_size", method: "POST", path: pro + "list", body: `{"page_index":1}`, code: "RequestParameterIsWrong"},
		{name: "a status by query", method: "GET", path: pro + "status?instance_uuid=pro-1", code: "Success"},
		{name: "a status by body, where a query is wanted", method: "GET", path: pro + "status", body: `{"instance_uuid":"pro-1"}`, code: "RequestParameterIsWrong"},
		{name: "a status by query, where a body is wanted", method: "GET", path: pro + "status?instance_uuid=pro-1", o: Options{BodyGET: true}, code: "RequestParameterIsWrong"},
		{name: "a status by body, where it is wanted", method: "GET", path: pro + "status", body: `{"instance_uuid":"pro-1"}`, o: Options{BodyGET: true}, code: "Success"},
		{name: "an unknown uuid", method: "GET", path: pro + "snapshot?instance_uuid=pro-2", code: "RecordNotFoundError"},
		{name: "a boot without a GPU", method: "POST", path: pro + "power_on", body: `{"instance_uuid":"pro-1","payload":"cpu"}`, code: "ServerError"},
		{name: "a power-on without a payload", method: "POST", path: pro + "power_on", body: `{"instance_uuid":"pro-1"}`, code: "RequestParameterIsWrong"},
		{name: "a power-on of what runs", method: "POST", path: pro + "power_on", body: `{"instance_uuid":"pro-1","payload":"gpu"}`, code: "InternalError"},
		{name: "a release of what runs", method: "POST", path: pro + "release", body: `{"instance_uuid":"pro-1"}`, code: "InternalError"},
		{name: "a create with what is required", method: "POST", path: pro + "create", body: `{"req_gpu_amount":1,"expand_system_disk_by_gb":0,"gpu_spec_uuid":"4090D","image_uuid":"i","cuda_v_from":118}`, code: "Success"},
		{name: "a create of five cards", method: "POST", path: pro + "create", body: `{"req_gpu_amount":5,"expand_system_disk_by_gb":0,"gpu_spec_uuid":"4090D","image_uuid":"i","cuda_v_from":118}`, code: "RequestParameterIsWrong"},
		{name: "a create without a disk", method: "POST", path: pro + "create", body: `{"req_gpu_amount":1,"gpu_spec_uuid":"4090D","image_uuid":"i","cuda_v_from":118}`, code: "RequestParameterIsWrong"},
		{name: "a create by a model", method: "POST", path: pro + "create", body: `{"req_gpu_amount":1,"expand_system_disk_by_gb":0,"gpu_spec_uuid":"RTX 4090D","image_uuid":"i","cuda_v_from":118}`, code: "RequestParameterIsWrong"},
		{name: "a create without an image", method: "POST", path: pro + "create", body: `{"req_gpu_amount":1,"expand_system_disk_by_gb":0,"gpu_spec_uuid":"4090D","image_uuid":"","cuda_v_from":118}`, code: "RequestParameterIsWrong"},
		{name: "a create in a region of elastic deployment", method: "POST", path: pro + "create", body: `{"req_gpu_amount":1,"expand_system_disk_by_gb":0,"gpu_spec_uuid":"4090D","image_uuid":"i","cuda_v_from":118,"data_center_list":["foshanDC1"]}`, code: "RequestParameterIsWrong"},
		{name: "a create that finds no card", method: "POST", path: pro + "create", body: `{"req_gpu_amount":1,"expand_system_disk_by_gb":0,"gpu_spec_uuid":"4090D","image_uuid":"i","cuda_v_from":118}`, code: "InternalError", before: func(c *caller) { c.SetSoldOut(true) }},
		{name: "a stock without a region", method: "POST", path: "/api/v1/dev/machine/region/gpu_stock", body: `{}`, code: "RequestParameterIsWrong"},
		{name: "a stock of a region nobody knows", method: "POST", path: "/api/v1/dev/machine/region/gpu_stock", body: `{"region_sign":"bj-B2"}`, code: "Success"},
		{name: "a second power-off", method: "POST", path: pro + "power_off", body: `{"instance_uuid":"pro-1"}`, code: "InternalError",
			before: func(c *caller) { c.call("POST", pro+"power_off", `{"instance_uuid":"pro-1"}`) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := setup(t, tc.o)
			c.Add(Machine{UUID: "pro-1"})
			if tc.before != nil {
				tc.before(c)
			}
			status, code, _ := c.call(tc.method, tc.path, tc.body, tc.headers...)
			if status != 200 || code != tc.code || len(c.Problems()) != 0 {
				t.Errorf("status %d, code %q, problems %q; want 200, %q and none", status, code, c.Problems(), tc.code)
			}
		})
	}
}

func TestALifeInTheDouble(t *testing.T) {
	c := setup(t, Options{})
	id := c.Add(Machine{Status: "creating"})
	step := func(order string, pass time.Duration, want string) {
		t.Helper()
		if order != "" {
			body := `{"instance_uuid":"` + id + `"}`
			if order == "power_on" {
				body = `{"instance_uuid":"` + id + `","payload":"gpu"}`
			}
			if _, code, _ := c.call("POST", pro+order, body); code != "Success" {
				t.Fatalf("%s: %s", order, code)
			}
		}
		c.now = c.now.Add(pass)
		if got := c.Status(id); got != want {
			t.Fatalf("%s after %s: %q, want %q", order, pass, got, want)
		}
	}
	step("", 0, "creating")
	step("", 20*time.Second, "running")
	first := c.Login(id)
	step("power_off", 9*time.Second, "shutting_down")
	step("", time.Second, "shutdown")
	step("power_on", 14*time.Second, "starting")
	step("", time.Second, "running")
	if again := c.Login(id); again == first || again.Password == first.Password || again.Port == first.Port {
		t.Errorf("login is %+v after a boot, as before", again)
	}
	c.SetSSH(id, SSH{"127.0.0.1", 2222, "fixed"})
	step("power_off", 10*time.Second, "shutdown")
	step("power_on", 15*time.Second, "running")
	if got := (SSH{"127.0.0.1", 2222, "fixed"}); c.Login(id) != got {
		t.Errorf("login is %+v, want the one that was set", c.Login(id))
	}
	step("power_off", 10*time.Second, "shutdown")
	step("release", 9*time.Second, "releasing")
	step("", time.Second, "")

	id = c.Add(Machine{Status: "shutdown"})
	step("", 15*24*time.Hour-time.Second, "shutdown")
	step("", time.Second, "")
}

// The facts name every field of a list item and of a snapshot; what the double
// sends must be among them, and all that the adapter reads must be sent.
func TestTheDoubleSpeaksTheDocumentedFields(t *testing.T) {
	item := []string{
		"charge_type", "created_at", "expired_at", "gpu_spec_uuid", "machine_alias", "machine_id", "name", "region_name",
		"region_sign", "req_gpu_amount", "start_mode", "started_at", "status", "status_at", "stopped_at", "sub_status",
		"timed_shutdown_at", "uuid",
	}
	detail := []string{
		"chip_corp", "cpu_arch", "expand_system_disk_size", "jupyter_token", "origin_pay_price", "payg_price", "proxy_host",
		"region_sign", "root_password", "snapshot_gpu_alias_name", "ssh_command", "ssh_port", "system_init_disk_size", "usage_info",
	}
	c := setup(t, Options{})
	id := c.Add(Machine{StoppedAt: noon.Add(-5 * time.Hour)})
	var l struct {
		List []map[string]json.RawMessage `json:"list"`
	}
	_, _, data := c.call("POST", pro+"list", `{"page_index":1,"page_size":100}`)
	if err := json.Unmarshal(data, &l); err != nil || len(l.List) != 1 {
		t.Fatalf("list %s: %v", data, err)
	}
	if diff := cmp.Diff(item, slices.Sorted(maps.Keys(l.List[0]))); diff != "" {
		t.Errorf("list item (-documented +sent):\n%s", diff)
	}
	for field, want := range map[string]string{
		"stopped_at": `{"Time":"2026-09-05T07:00:00+08:00","Valid":true}`,
		"expired_at": `{"Time":"0001-01-01T00:00:00Z","Valid":false}`,
		"created_at": `"2026-09-05T10:00:00+08:00"`,
	} {
		if got := string(l.List[0][field]); got != want {
			t.Errorf("%s is %s, want %s", field, got, want)
		}
	}
	var d map[string]json.RawMessage
	_, _, data = c.call("GET", pro+"snapshot?instance_uuid="+id, "")
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(detail, slices.Sorted(maps.Keys(d))); diff != "" {
		t.Errorf("snapshot (-documented +sent):\n%s", diff)
	}
	_, _, data = c.call("GET", pro+"status?instance_uuid="+id, "")
	if string(data) != `"running"` {
		t.Errorf("status data is %s, want the bare word", data)
	}
}

func TestFaultsAreCountedByPath(t *testing.T) {
	c := setup(t, Options{})
	reached := 0
	c.Fail(Fault{Kind: Refuse, Code: "TORealName", Paths: []string{"wallet/balance"}, After: 1, Times: 2, Reached: func() { reached++ }})
	var got []string
	for range 4 {
		_, code, _ := c.call("POST", "/api/v1/dev/wallet/balance", "")
		got = append(got, code)
		if _, code, _ := c.call("POST", pro+"list", `{"page_index":1,"page_size":1}`); code != "Success" {
			t.Errorf("another path met the fault: %s", code)
		}
	}
	if diff := cmp.Diff([]string{"Success", "TORealName", "TORealName", "Success"}, got); diff != "" || reached != 2 {
		t.Errorf("reached %d times (-want +got):\n%s", reached, diff)
	}
	if n := len(c.Requests()); n != 8 {
		t.Errorf("%d requests are logged, want 8", n)
	}
}
