package autodltest

import (
	"fmt"
	"time"
)

type listItem struct {
	UUID            string   `json:"uuid"`
	Name            string   `json:"name"`
	Status          string   `json:"status"`
	SubStatus       string   `json:"sub_status"`
	MachineID       string   `json:"machine_id"`
	MachineAlias    string   `json:"machine_alias"`
	RegionSign      string   `json:"region_sign"`
	RegionName      string   `json:"region_name"`
	ChargeType      string   `json:"charge_type"`
	StartMode       string   `json:"start_mode"`
	GPUAmount       int      `json:"req_gpu_amount"`
	GPUSpec         string   `json:"gpu_spec_uuid"`
	CreatedAt       string   `json:"created_at"`
	StatusAt        string   `json:"status_at"`
	StartedAt       nullTime `json:"started_at"`
	StoppedAt       nullTime `json:"stopped_at"`
	ExpiredAt       nullTime `json:"expired_at"`
	TimedShutdownAt nullTime `json:"timed_shutdown_at"`
}

type listData struct {
	List        []listItem `json:"list"`
	PageIndex   int        `json:"page_index"`
	PageSize    int        `json:"page_size"`
	MaxPage     int        `json:"max_page"`
	ResultTotal int        `json:"result_total"`
}

func (c *Cloud) list(body []byte) (answer, error) {
	var q struct {
		Index *int `json:"page_index"`
		Size  *int `json:"page_size"`
	}
	if err := strict(body, &q); err != nil {
		return answer{}, err
	}
	if q.Index == nil || q.Size == nil || *q.Index < 1 || *q.Size < 1 || *q.Size > 100 {
		return wrongParameter, nil
	}
	size := min(*q.Size, c.o.PageMax)
	from := min((*q.Index-1)*size, len(c.machines))
	to := min(from+size, len(c.machines))
	l := listData{
		List: []listItem{}, PageIndex: *q.Index, PageSize: size,
		MaxPage: (len(c.machines) + size - 1) / size, ResultTotal: len(c.machines),
	}
	for _, m := range c.machines[from:to] {
		l.List = append(l.List, listItem{
			UUID: m.UUID, Name: m.Name, Status: m.word(),
			MachineID: "m-" + m.UUID, MachineAlias: "B2-" + m.UUID, RegionSign: m.Region, RegionName: "北京B区",
			ChargeType: m.Charge, StartMode: m.StartMode, GPUAmount: m.GPUs, GPUSpec: m.Spec,
			CreatedAt: m.CreatedAt.In(beijing).Format(time.RFC3339), StatusAt: m.statusAt.In(beijing).Format(time.RFC3339),
			StartedAt: null(m.StartedAt), StoppedAt: null(m.StoppedAt),
			ExpiredAt: null(m.ExpiredAt), TimedShutdownAt: null(m.TimedShutdownAt),
		})
	}
	return success(l), nil
}

// one finds the instance that a body names.
func (c *Cloud) one(body []byte) (*machine, answer, error) {
	var q struct {
		UUID string `json:"instance_uuid"`
	}
	if err := strict(body, &q); err != nil {
		return nil, answer{}, err
	}
	return c.named(q.UUID)
}

func (c *Cloud) named(uuid string) (*machine, answer, error) {
	if uuid == "" {
		return nil, wrongParameter, nil
	}
	m := c.find(uuid)
	if m == nil {
		return nil, answer{Code: "RecordNotFoundError", Msg: "记录不存在"}, nil
	}
	return m, answer{}, nil
}

func (c *Cloud) status(body []byte) (answer, error) {
	m, no, err := c.one(body)
	if m == nil {
		return no, err
	}
	return success(m.word()), nil
}

type usage struct {
	Valid bool `json:"valid"`
}

type snapshotData struct {
	RegionSign     string `json:"region_sign"`
	PaygPrice      int64  `json:"payg_price"`
	OriginPrice    int64  `json:"origin_pay_price"`
	GPUAlias       string `json:"snapshot_gpu_alias_name"`
	ChipCorp       string `json:"chip_corp"`
	CPUArch        string `json:"cpu_arch"`
	SSHCommand     string `json:"ssh_command"`
	ProxyHost      string `json:"proxy_host"`
	SSHPort        int    `json:"ssh_port"`
	RootPassword   string `json:"root_password"`
	JupyterToken   string `json:"jupyter_token"`
	SystemDisk     int64  `json:"system_init_disk_size"`
	SystemDiskMore int64  `json:"expand_system_disk_size"`
	Usage          usage  `json:"usage_info"`
}

func (c *Cloud) snapshot(body []byte) (answer, error) {
	m, no, err := c.one(body)
	if m == nil {
		return no, err
	}
	s := snapshotData{
		RegionSign: m.Region, PaygPrice: 1, OriginPrice: 1, GPUAlias: m.Spec, ChipCorp: "nvidia", CPUArch: "x86",
		SystemDisk: 30 << 30, SystemDiskMore: m.DiskExtra,
	}
	if m.Status == "running" {
		s.PaygPrice, s.OriginPrice = m.Price, m.Price*100/95
		s.SSHCommand = fmt.Sprintf("ssh -p %d root@%s", m.SSH.Port, m.SSH.Host)
		s.ProxyHost, s.SSHPort, s.RootPassword = m.SSH.Host, m.SSH.Port, m.SSH.Password
		s.JupyterToken = "jt-" + m.SSH.Password
	}
	return success(s), nil
}

func (c *Cloud) orderOn(body []byte) (answer, error) {
	var q struct {
		UUID    string  `json:"instance_uuid"`
		Payload *string `json:"payload"`
		Command string  `json:"start_command"`
	}
	if err := strict(body, &q); err != nil {
		return answer{}, err
	}
	m, no, err := c.named(q.UUID)
	switch {
	case m == nil:
		return no, err
	case q.Payload == nil:
		return wrongParameter, nil
	case *q.Payload != "gpu" && *q.Payload != "":
		return answer{Code: "ServerError", Msg: "不支持的启动模式"}, nil
	case c.wallet.assets+c.wallet.vouchers <= 0:
		return answer{Code: "InternalError", Msg: "账户余额不足，请先充值"}, nil
	case m.Status != "shutdown":
		return answer{Code: "InternalError", Msg: stateMsg}, nil
	case c.soldOut:
		return answer{Code: "InternalError", Msg: "当前算力规格暂无库存，请稍后再试"}, nil
	}
	c.powerOn(m)
	return success(nil), nil
}

func (c *Cloud) orderOff(body []byte) (answer, error) {
	return c.order(body, "running", c.powerOff)
}

func (c *Cloud) orderRelease(body []byte) (answer, error) {
	return c.order(body, "shutdown", c.release)
}

func (c *Cloud) order(body []byte, needs string, do func(*machine)) (answer, error) {
	m, no, err := c.one(body)
	if m == nil {
		return no, err
	}
	if m.Status != needs {
		return answer{Code: "InternalError", Msg: stateMsg}, nil
	}
	do(m)
	return success(nil), nil
}

type balanceData struct {
	Assets     int64 `json:"assets"`
	Accumulate int64 `json:"accumulate"`
	Vouchers   int64 `json:"voucher_balance"`
}

func (c *Cloud) balance(body []byte) (answer, error) {
	if len(body) > 0 {
		if err := strict(body, &struct{}{}); err != nil {
			return answer{}, err
		}
	}
	return success(balanceData{c.wallet.assets, c.wallet.accumulate, c.wallet.vouchers}), nil
}
