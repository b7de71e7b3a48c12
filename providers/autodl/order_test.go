package autodl

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/providers/autodl/autodltest"
)

const (
	createPath = "POST /api/v1/dev/instance/pro/create "
	emptyList  = `{"code":"Success","msg":"","data":{"list":[],"page_index":1,"page_size":100,"max_page":0,"result_total":0}}`
)

func anOrder() fleet.OrderSpec {
	return fleet.OrderSpec{
		Offer: fleet.Offer{Region: "beijingDC2", SKU: "4090D", GPU: fleet.GPU{Model: "RTX 4090D", Count: 2}, CUDA: "12.4", Charge: fleet.ChargeOnDemand},
		Name:  "curfew-7", Token: "t-7", Image: "image-1a2b", DiskGB: 50,
	}
}

func TestAnOrderIsSentAsDocumented(t *testing.T) {
	bare, object := `{"code":"Success","msg":"","data":"pro-77"}`, `{"code":"Success","msg":"","data":{"instance_uuid":"pro-77"}}`
	for name, c := range map[string]struct {
		change func(*fleet.OrderSpec)
		body   string
		answer string
	}{
		"all of it": {body: `{"req_gpu_amount":2,"expand_system_disk_by_gb":50,"gpu_spec_uuid":"4090D","image_uuid":"image-1a2b","cuda_v_from":124,"data_center_list":["beijingDC2"],"instance_name":"curfew-7"}`, answer: bare},
		"what is required alone": {
			change: func(s *fleet.OrderSpec) { s.Offer.Region, s.Offer.CUDA, s.DiskGB = "", "", 0 },
			body:   `{"req_gpu_amount":2,"expand_system_disk_by_gb":0,"gpu_spec_uuid":"4090D","image_uuid":"image-1a2b","cuda_v_from":118,"instance_name":"curfew-7"}`, answer: object,
		},
		"a command": {
			change: func(s *fleet.OrderSpec) {
				s.Offer.Region, s.Command, s.Labels = "", "bash /root/start.sh", map[string]string{"a": "b"}
			},
			body: `{"req_gpu_amount":2,"expand_system_disk_by_gb":50,"gpu_spec_uuid":"4090D","image_uuid":"image-1a2b","cuda_v_from":124,"instance_name":"curfew-7","start_command":"bash /root/start.sh"}`, answer: bare,
		},
	} {
		t.Run(name, func(t *testing.T) {
			spec := anOrder()
			if c.change != nil {
				c.change(&spec)
			}
			a := openAt(t, recorded(t, exchange{want: listPage1, body: emptyList}, exchange{want: createPath + c.body, body: c.answer}), nil)
			ref, err := a.Order(t.Context(), spec)
			if want := (fleet.Ref{Kind: fleet.KindInstance, ID: "pro-77"}); ref != want || err != nil {
				t.Errorf("got %s and %v, want %s", ref, err, want)
			}
		})
	}
}

func TestAnOrderThatCannotBeIsNotSent(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fleet.OrderSpec)
		kind   fleet.ErrorKind
	}{
		"no spec":            {func(s *fleet.OrderSpec) { s.Offer.SKU = "" }, fleet.Invalid},
		"no name":            {func(s *fleet.OrderSpec) { s.Name = "" }, fleet.Invalid},
		"no image":           {func(s *fleet.OrderSpec) { s.Image = "" }, fleet.Invalid},
		"no card":            {func(s *fleet.OrderSpec) { s.Offer.GPU.Count = 0 }, fleet.Invalid},
		"too many cards":     {func(s *fleet.OrderSpec) { s.Offer.GPU.Count = 5 }, fleet.Invalid},
		"too large a disk":   {func(s *fleet.OrderSpec) { s.DiskGB = 501 }, fleet.Invalid},
		"a region of lists":  {func(s *fleet.OrderSpec) { s.Offer.Region = "bj-B2" }, fleet.Invalid},
		"a version of tales": {func(s *fleet.OrderSpec) { s.Offer.CUDA = "newest" }, fleet.Invalid},
		"a period":           {func(s *fleet.OrderSpec) { s.Offer.Charge = fleet.ChargePeriod }, fleet.Unsupported},
		"an unknown charge":  {func(s *fleet.OrderSpec) { s.Offer.Charge = "" }, fleet.Unsupported},
		"a key":              {func(s *fleet.OrderSpec) { s.SSHKey = "ssh-ed25519 AAAA" }, fleet.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, autodltest.Options{}, nil)
			spec := anOrder()
			c.change(&spec)
			ref, err := b.Order(t.Context(), spec)
			if fleet.KindOf(err) != c.kind || !ref.IsZero() || !strings.Contains(err.Error(), "nothing was sent") {
				t.Errorf("got %s and %v, want %s", ref, err, c.kind)
			}
			if got := b.sent(0); len(got) != 0 {
				t.Errorf("sent %q", got)
			}
		})
	}
}

func TestAnOrderBootsAndIsFoundAgainByItsName(t *testing.T) {
	for name, o := range map[string]autodltest.Options{"bare answers": {PageMax: 1}, "objects": {PageMax: 1, CreateObject: true}} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, o, nil)
			b.cloud.Add(autodltest.Machine{Name: "curfew-70"})
			ref, err := b.Order(t.Context(), anOrder())
			if err != nil {
				t.Fatal(err)
			}
			if i := b.must(t, ref.ID); i.State != fleet.StateCreating || i.Name != "curfew-7" || i.GPU.Count != 2 || i.GPU.Model != "RTX 4090D" {
				t.Errorf("at once it is %+v", i)
			}
			b.clock.pass(time.Minute)
			if i := b.must(t, ref.ID); i.State != fleet.StateRunning || i.Boot == "" {
				t.Errorf("after a minute it is %+v", i)
			}
			from := len(b.cloud.Requests())
			again, err := b.Order(t.Context(), anOrder())
			if again != ref || err != nil {
				t.Errorf("the same order answers %s and %v, want %s", again, err, ref)
			}
			if diff := cmp.Diff([]string{"POST instance/pro/list", "POST instance/pro/list"}, b.sent(from)); diff != "" {
				t.Errorf("the same order sent, wanted (-) and got (+):\n%s", diff)
			}
		})
	}
}

func TestRefusedOrders(t *testing.T) {
	for _, c := range []struct {
		code, msg string
		kind      fleet.ErrorKind
	}{
		{"InternalError", "当前算力规格暂无库存，请稍后再试", fleet.OutOfStock},
		{"InternalError", "账户余额不足，请先充值", fleet.Other},
		{"TORealName", "", fleet.Unauthorized},
		{"PermissionDenied", "无当前资源访问权限", fleet.Unauthorized},
		{"AuthorizeFailed", "登录超时，请重新登录", fleet.Unauthorized},
		{"RequestParameterIsWrong", "请求参数错误", fleet.Invalid},
		{"RecordNotFoundError", "", fleet.Other}, // an image or a spec, and no instance that is gone
		{"InternalError", "操作过于频繁", fleet.RateLimited},
		{"InternalError", "系统错误", fleet.OutcomeUnknown},
		{"CodeOfTomorrow", "", fleet.OutcomeUnknown},
	} {
		t.Run(c.code+" "+c.msg, func(t *testing.T) {
			b := setup(t, autodltest.Options{}, nil)
			b.cloud.Fail(autodltest.Fault{Kind: autodltest.Refuse, Paths: []string{"pro/create"}, Code: c.code, Msg: c.msg})
			ref, err := b.Order(t.Context(), anOrder())
			b.wantRefusal(t, err, c.kind, c.code)
			if !ref.IsZero() {
				t.Errorf("it names %s", ref)
			}
			if diff := cmp.Diff([]string{"POST instance/pro/list", "POST instance/pro/create"}, b.sent(0)); diff != "" {
				t.Errorf("sent, wanted (-) and got (+):\n%s", diff)
			}
		})
	}
}

func TestTheDoublesOwnRefusalsOfOrders(t *testing.T) {
	b := setup(t, autodltest.Options{}, nil)
	b.cloud.SetStock(autodltest.Stock{Region: "beijingDC2", Model: "RTX 4090D", Idle: 140})
	b.cloud.SetSoldOut(true)
	if _, err := b.Order(t.Context(), anOrder()); fleet.KindOf(err) != fleet.OutOfStock {
		t.Errorf("sold out while 140 are idle, it answers %v", err)
	}
	b.cloud.SetSoldOut(false)
	b.cloud.SetWallet(0, 0, 0)
	if _, err := b.Order(t.Context(), anOrder()); fleet.KindOf(err) != fleet.Other || !strings.Contains(err.Error(), "余额") {
		t.Errorf("without money it answers %v", err)
	}
}

func TestAnOrderIsNotSentWhereItsNameCannotBeLookedFor(t *testing.T) {
	b := setup(t, autodltest.Options{}, nil)
	b.cloud.Fail(autodltest.Fault{Kind: autodltest.Status, Paths: []string{"pro/list"}})
	if _, err := b.Order(t.Context(), anOrder()); fleet.KindOf(err) != fleet.Transient {
		t.Errorf("got %v, want transient: nothing was ordered", err)
	}
	for _, sent := range b.sent(0) {
		if strings.Contains(sent, "create") {
			t.Error("the order was sent all the same")
		}
	}
}

func TestAnAnswerThatNamesNothingHasAnUnknownOutcome(t *testing.T) {
	for _, data := range []any{"", map[string]string{}, 7, nil, []string{"pro-1"}} {
		a := openAt(t, recorded(t,
			exchange{want: listPage1, body: emptyList},
			exchange{want: createPath + `{"req_gpu_amount":2,"expand_system_disk_by_gb":50,"gpu_spec_uuid":"4090D","image_uuid":"image-1a2b","cuda_v_from":124,"data_center_list":["beijingDC2"],"instance_name":"curfew-7"}`, body: envelopeOf(t, "Success", "", data)},
		), nil)
		if ref, err := a.Order(t.Context(), anOrder()); fleet.KindOf(err) != fleet.OutcomeUnknown || !ref.IsZero() {
			t.Errorf("the data %v give %s and %v", data, ref, err)
		}
	}
}
