package autodltest

import (
	"slices"
	"strings"
)

// Stock is what the stock call tells of one model in one region. It says nothing of
// what can be ordered.
type Stock struct {
	Region string // in the words of requests, such as beijingDC2
	Model  string // as the market page calls it
	Idle   int    // cards, one by one
	CUDA   int    // the newest that their drivers run; 128 (12.8) by default
}

// SetStock tells of this many idle cards from now on.
func (c *Cloud) SetStock(s Stock) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.CUDA == 0 {
		s.CUDA = 128
	}
	c.stock = append(slices.DeleteFunc(c.stock, func(old Stock) bool {
		return old.Region == s.Region && old.Model == s.Model && old.CUDA == s.CUDA
	}), s)
}

type idleData struct {
	Idle     int    `json:"idle_gpu_num"`
	Total    int    `json:"total_gpu_num"`
	ChipCorp string `json:"chip_corp"`
	CPUArch  string `json:"cpu_arch"`
}

// gpuStock answers of a region it does not know as of one that is sold out.
func (c *Cloud) gpuStock(body []byte) (answer, error) {
	var q struct {
		Region   string   `json:"region_sign"`
		Models   []string `json:"gpu_name_set"`
		CUDAFrom int      `json:"cuda_v_from"`
		CUDATo   int      `json:"cuda_v_to"`
	}
	if err := strict(body, &q); err != nil {
		return answer{}, err
	}
	if q.Region == "" {
		return wrongParameter, nil
	}
	out := []map[string]idleData{}
	for _, s := range c.stock {
		if s.Region == q.Region && (len(q.Models) == 0 || slices.Contains(q.Models, s.Model)) && s.CUDA >= q.CUDAFrom {
			out = append(out, map[string]idleData{s.Model: {Idle: s.Idle, Total: s.Idle + 8, ChipCorp: "nvidia", CPUArch: "x86"}})
		}
	}
	return success(out), nil
}

// orderNew creates an instance and boots it. What is out of bounds is refused, whether
// the field is required or not.
func (c *Cloud) orderNew(body []byte) (answer, error) {
	var q struct {
		GPUs    int      `json:"req_gpu_amount"`
		Disk    *int     `json:"expand_system_disk_by_gb"`
		Spec    string   `json:"gpu_spec_uuid"`
		Image   string   `json:"image_uuid"`
		CUDA    int      `json:"cuda_v_from"`
		Regions []string `json:"data_center_list"`
		Name    string   `json:"instance_name"`
		Command string   `json:"start_command"`
	}
	if err := strict(body, &q); err != nil {
		return answer{}, err
	}
	specs := []string{"h800", "v-48g", "pro6000-p", "v-32g-p", "v-48g-350w", "5090-p", "4090D"}
	elsewhere := func(r string) bool { return r != "westDC3" && r != "beijingDC2" }
	switch {
	case q.GPUs < 1 || q.GPUs > 4, q.Disk == nil || *q.Disk < 0 || *q.Disk > 500, !slices.Contains(specs, q.Spec),
		q.Image == "", q.CUDA < 100 || q.CUDA > 999, slices.ContainsFunc(q.Regions, elsewhere):
		return wrongParameter, nil
	case c.wallet.assets+c.wallet.vouchers <= 0:
		return answer{Code: "InternalError", Msg: "账户余额不足，请先充值"}, nil
	case c.soldOut:
		return answer{Code: "InternalError", Msg: "当前算力规格暂无库存，请稍后再试"}, nil
	}
	m := Machine{Name: q.Name, Status: "creating", Spec: q.Spec, GPUs: q.GPUs, Region: "bj-B2", DiskExtra: int64(*q.Disk) << 30, CreatedAt: c.o.Now()}
	if len(q.Regions) > 0 && strings.HasPrefix(q.Regions[0], "west") {
		m.Region = "west-B"
	}
	uuid := c.add(m)
	if c.o.CreateObject {
		return success(map[string]string{"instance_uuid": uuid}), nil
	}
	return success(uuid), nil
}
