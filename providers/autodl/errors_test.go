package autodl

import (
	"strings"
	"testing"

	"curfew/fleet"
	"curfew/providers"
	"curfew/providers/autodl/autodltest"
)

func TestEveryCodeHasItsKind(t *testing.T) {
	for _, tc := range []struct {
		code, msg   string
		read, write fleet.ErrorKind
	}{
		{"AuthorizeFailed", "登录超时，请重新登录", fleet.Unauthorized, fleet.Unauthorized},
		{"TORealName", "", fleet.Unauthorized, fleet.Unauthorized},
		{"PermissionDenied", "无当前资源访问权限", fleet.Unauthorized, fleet.Unauthorized},
		{"BadRequest", "无当前资源访问权限", fleet.Unauthorized, fleet.Unauthorized},
		{"BadRequest", "", fleet.Invalid, fleet.Invalid},
		{"RequestParameterIsWrong", "请求参数错误", fleet.Invalid, fleet.Invalid},
		{"RecordNotFoundError", "", fleet.NotFound, fleet.NotFound},
		{"InternalError", "当前算力规格暂无库存，请稍后再试", fleet.OutOfStock, fleet.OutOfStock},
		{"InternalError", "系统错误", fleet.Transient, fleet.OutcomeUnknown},
		{"ServerError", "不支持的启动模式", fleet.Unsupported, fleet.Unsupported},
		{"ServerError", "", fleet.Transient, fleet.OutcomeUnknown},
		{"InternalError", "账户余额不足", fleet.Other, fleet.Other},
		{"InternalError", "请先完成实名认证", fleet.Unauthorized, fleet.Unauthorized},
		{"InternalError", "操作过于频繁", fleet.RateLimited, fleet.RateLimited},
		{"CodeOfTomorrow", "", fleet.Other, fleet.OutcomeUnknown},
	} {
		t.Run(tc.code+" "+tc.msg, func(t *testing.T) {
			for write, want := range map[bool]fleet.ErrorKind{false: tc.read, true: tc.write} {
				if got, _ := kindOf(tc.code, tc.msg, write); got != want {
					t.Errorf("write %t: %s, want %s", write, got, want)
				}
			}
			// The same on the wire, where the state of the instance explains nothing.
			b := setup(t, autodltest.Options{}, nil)
			i := b.must(t, b.cloud.Add(autodltest.Machine{}))
			b.cloud.Fail(autodltest.Fault{Kind: autodltest.Refuse, Paths: []string{"snapshot", "power_off"}, Code: tc.code, Msg: tc.msg})
			_, err := b.Access(t.Context(), i)
			b.wantRefusal(t, err, tc.read, tc.code)
			b.wantRefusal(t, b.Stop(t.Context(), i, providers.StopOptions{}), tc.write, tc.code)
		})
	}
}

func (b bundle) wantRefusal(t *testing.T, err error, kind fleet.ErrorKind, code string) {
	t.Helper()
	if fleet.KindOf(err) != kind {
		t.Fatalf("got %v, want kind %s", err, kind)
	}
	for _, part := range []string{code, "(request req-"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error does not name %q: %v", part, err)
		}
	}
	for _, secret := range b.cloud.Secrets() {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("error holds a secret: %s", strings.ReplaceAll(err.Error(), secret, "<it>"))
		}
	}
}

func TestHTTPStatusAndCodeTogether(t *testing.T) {
	page := "<html><title>404</title></html>"
	for _, tc := range []struct {
		name   string
		status int
		body   string
		want   fleet.ErrorKind
	}{
		{"a code of AutoDL's with a 4xx counts", 404, envelopeOf(t, "RecordNotFoundError", "", nil), fleet.NotFound},
		{"so it does with 403", 403, envelopeOf(t, "TORealName", "", nil), fleet.Unauthorized},
		{"a bare 404 is a wrong address, not an instance that is gone", 404, `{"detail":"Not Found"}`, fleet.Other},
		{"a page that says 404 is none either", 404, page, fleet.Other},
		{"401 without a code", 401, `{}`, fleet.Unauthorized},
		{"a page that keeps programs out", 403, page, fleet.Banned},
		{"429 is a rate limit whatever the code", 429, envelopeOf(t, "RecordNotFoundError", "", nil), fleet.RateLimited},
		{"5xx is the platform's trouble whatever the code", 500, envelopeOf(t, "RecordNotFoundError", "", nil), fleet.Transient},
		{"an answer without a code is not understood", 200, `{"data": "running"}`, fleet.Transient},
		{"a number for a code is not understood", 200, `{"code": 0, "data": "running"}`, fleet.Transient},
		{"success without data is not understood", 200, envelopeOf(t, "Success", "", nil), fleet.Transient},
		{"data of another form is not understood", 200, envelopeOf(t, "Success", "", map[string]int{"x": 1}), fleet.Transient},
		{"JSON that breaks off is not understood", 200, `{"code": "Success", "da`, fleet.Transient},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := openAt(t, recorded(t, exchange{want: "GET /api/v1/dev/instance/pro/status?instance_uuid=pro-1", status: tc.status, body: tc.body}), nil)
			if _, err := a.status(t.Context(), "pro-1"); fleet.KindOf(err) != tc.want {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestRefusedByState(t *testing.T) {
	stop := func(b bundle, i fleet.Instance) error { return b.Stop(t.Context(), i, providers.StopOptions{}) }
	start := func(b bundle, i fleet.Instance) error { return b.Start(t.Context(), i, providers.StartOptions{}) }
	release := func(b bundle, i fleet.Instance) error { return b.Release(t.Context(), i, providers.ReleaseOptions{}) }
	for _, tc := range []struct {
		name, status string
		write        func(bundle, fleet.Instance) error
		path         string
	}{
		{"a power-off while shutting down", "shutting_down", stop, "power_off"},
		{"a power-off of what is shut down", "shutdown", stop, "power_off"},
		{"a power-off while starting", "starting", stop, "power_off"},
		{"a power-on of what runs", "running", start, "power_on"},
		{"a release of what runs", "running", release, "release"},
		{"a release while shutting down", "shutting_down", release, "release"},
	} {
		t.Run(tc.name+" is a conflict", func(t *testing.T) {
			b := setup(t, autodltest.Options{}, nil)
			id := b.cloud.Add(autodltest.Machine{Status: tc.status})
			err := tc.write(b, fleet.Instance{Ref: b.ref(id)})
			if fleet.KindOf(err) != fleet.Conflict || !strings.Contains(err.Error(), tc.status) {
				t.Errorf("got %v, want a Conflict naming %s", err, tc.status)
			}
			want := []string{"POST instance/pro/" + tc.path + " " + id, "GET instance/pro/status " + id}
			if got := b.sent(0); strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("sent %q, want the write once and one look: %q", got, want)
			}
		})
	}
	t.Run("a refusal that the state does not explain stays what it is", func(t *testing.T) {
		b := setup(t, autodltest.Options{}, nil)
		id := b.cloud.Add(autodltest.Machine{})
		b.cloud.Fail(autodltest.Fault{Kind: autodltest.Refuse, Paths: []string{"power_off"}, Code: "InternalError", Msg: "系统错误"})
		if err := stop(b, fleet.Instance{Ref: b.ref(id)}); fleet.KindOf(err) != fleet.OutcomeUnknown {
			t.Errorf("got %v, want OutcomeUnknown", err)
		}
	})
	t.Run("a status nobody knows explains nothing", func(t *testing.T) {
		b := setup(t, autodltest.Options{}, nil)
		id := b.cloud.Add(autodltest.Machine{Status: "shutdown"})
		b.cloud.SetStatus(id, "hibernating")
		if err := stop(b, fleet.Instance{Ref: b.ref(id)}); fleet.KindOf(err) != fleet.OutcomeUnknown {
			t.Errorf("got %v, want OutcomeUnknown", err)
		}
	})
	t.Run("no card and no money are told without a look", func(t *testing.T) {
		b := setup(t, autodltest.Options{}, nil)
		i := fleet.Instance{Ref: b.ref(b.cloud.Add(autodltest.Machine{Status: "shutdown"}))}
		b.cloud.SetSoldOut(true)
		if err := start(b, i); fleet.KindOf(err) != fleet.OutOfStock {
			t.Errorf("sold out: %v, want OutOfStock", err)
		}
		b.cloud.SetWallet(0, 0, 0)
		if err := start(b, i); fleet.KindOf(err) != fleet.Other || !strings.Contains(err.Error(), "余额") {
			t.Errorf("empty wallet: %v, want Other with AutoDL's words", err)
		}
		if got := b.sent(0); len(got) != 2 {
			t.Errorf("sent %q, want two writes", got)
		}
	})
	t.Run("a boot without a GPU is refused here, without a request", func(t *testing.T) {
		b := setup(t, autodltest.Options{}, nil)
		err := b.Start(t.Context(), fleet.Instance{Ref: b.ref("pro-1")}, providers.StartOptions{NoGPU: true})
		if fleet.KindOf(err) != fleet.Unsupported || len(b.sent(0)) != 0 {
			t.Errorf("got %v after %q, want Unsupported after nothing", err, b.sent(0))
		}
	})
	t.Run("a write that names no instance is refused here, without a request", func(t *testing.T) {
		b := setup(t, autodltest.Options{}, nil)
		if err := release(b, fleet.Instance{}); fleet.KindOf(err) != fleet.Invalid || len(b.sent(0)) != 0 {
			t.Errorf("got %v after %q, want Invalid after nothing", err, b.sent(0))
		}
	})
}
