package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/ctl"
	"curfew/internal/ledger"
	"curfew/internal/text"
)

// twoDays are the bills of two days: instances that agree, of which vouchers paid 20
// CNY, a disk that nobody knows at 12 CNY a day, an hour that was refunded, traffic,
// and an instance that was never billed.
func twoDays() []ledger.BillDay {
	row := func(kind fleet.ThingKind, id, name string, item fleet.Item, billed, vouchers, reckoned int64, is ledger.Judgement) ledger.BillRow {
		r := ledger.BillRow{
			Name: name, Item: item, Billed: fleet.CNY(billed), Vouchers: fleet.CNY(vouchers),
			Reckoned: fleet.CNY(reckoned), Gap: fleet.CNY(billed - reckoned), Judgement: is,
		}
		if id != "" {
			r.Ref = fleet.Ref{Account: "sim:u-lab", Kind: kind, ID: id}
		}
		return r
	}
	lost := row(fleet.KindDisk, "d-7f3", "", fleet.ItemDisk, 12_000_000, 0, 0, ledger.Stranger)
	known := row(fleet.KindDisk, "d-1", "data", fleet.ItemDisk, 1_200_000, 0, 1_200_000, ledger.Agrees)
	return []ledger.BillDay{
		{
			Day: "2026-11-28", Billed: fleet.CNY(73_600_000), Reckoned: fleet.CNY(60_600_000), Refunded: fleet.CNY(-1_980_000), Judgement: ledger.More,
			Rows: []ledger.BillRow{
				row(fleet.KindInstance, "pro-1", "exp-1", fleet.ItemInstance, 59_400_000, 20_000_000, 59_400_000, ledger.Voucher), lost, known,
				row("", "", "", fleet.ItemTraffic, 1_000_000, 0, 0, ledger.More),
				row(fleet.KindInstance, "pro-1", "exp-1", fleet.ItemInstance, -1_980_000, 0, 0, ledger.Refund),
			},
		},
		{
			Day: "2026-11-29", Billed: fleet.CNY(13_200_000), Reckoned: fleet.CNY(3_180_000), Bought: fleet.CNY(720_000_000), Judgement: ledger.Late,
			Rows: []ledger.BillRow{
				lost, known, row(fleet.KindInstance, "pro-2", "exp-2", fleet.ItemInstance, 0, 0, 1_980_000, ledger.NeverBilled),
				row(fleet.KindInstance, "pro-3", "exp-3", fleet.ItemInstance, 720_000_000, 0, 0, ledger.Bought),
			},
		},
	}
}

func TestTheBillIsShownBesideTheLedger(t *testing.T) {
	days := twoDays()
	agreeing := ledger.BillDay{Day: "2026-11-28", Rows: days[0].Rows[:1]}
	checks := []ctl.BillCheck{
		{Account: "lab", Items: ledger.SumBill(days), Days: days},
		{Account: "quiet", Items: ledger.SumBill([]ledger.BillDay{agreeing}), Days: []ledger.BillDay{agreeing}},
		{Account: "new"},
	}
	for lang, want := range map[text.Language]string{
		text.English: `Bill of lab, 2026-11-28 to 2026-11-29
  ITEM       RECKONED   BILLED     OF IT VOUCHERS  GAP
  INSTANCES  61.38 CNY  59.40 CNY  20.00 CNY       -1.98 CNY
  DISKS      2.40 CNY   26.40 CNY  -               24.00 CNY
  TRAFFIC    0.00 CNY   1.00 CNY   -               1.00 CNY
  ALL        63.78 CNY  86.80 CNY  20.00 CNY       23.02 CNY
  Kept apart: -1.98 CNY refunded, 720.00 CNY for periods that were bought
  From 2026-11-29 on the bill may not be complete yet
  Not explained
    DAY                 RESOURCE               ITEM       RECKONED  BILLED     RESULT
    2026-11-28 – 11-29  d-7f3                  DISKS      0.00 CNY  24.00 CNY  curfew knows of no such resource
    2026-11-29          exp-2                  INSTANCES  1.98 CNY  0.00 CNY   reckoned, and never billed
    2026-11-28          (the bill names none)  TRAFFIC    0.00 CNY  1.00 CNY   billed more than reckoned
Bill of quiet, 2026-11-28 to 2026-11-28
  ITEM       RECKONED   BILLED     OF IT VOUCHERS  GAP
  INSTANCES  59.40 CNY  59.40 CNY  20.00 CNY       -
  Every resource agrees
new: no whole day's bill of this time was read yet
`,
		text.Chinese: `lab 的账单对账，2026-11-28 至 2026-11-29
  项目  按用量计算  账单金额   其中代金券  差额
  实例  61.38 CNY   59.40 CNY  20.00 CNY   -1.98 CNY
  磁盘  2.40 CNY    26.40 CNY  -           24.00 CNY
  流量  0.00 CNY    1.00 CNY   -           1.00 CNY
  合计  63.78 CNY   86.80 CNY  20.00 CNY   23.02 CNY
  不参与比较：退款 -1.98 CNY，购买包期 720.00 CNY
  2026-11-29 起账单可能尚不完整
  无法解释的部分
    日期                资源            项目  按用量计算  账单金额   结论
    2026-11-28 – 11-29  d-7f3           磁盘  0.00 CNY    24.00 CNY  curfew 没有见过该资源
    2026-11-29          exp-2           实例  1.98 CNY    0.00 CNY   已计算，但未出账
    2026-11-28          （账单未注明）  流量  0.00 CNY    1.00 CNY   账单多于计算
quiet 的账单对账，2026-11-28 至 2026-11-28
  项目  按用量计算  账单金额   其中代金券  差额
  实例  59.40 CNY   59.40 CNY  20.00 CNY   -
  每个资源都相符
new：这段时间尚无完整一天的账单
`,
	} {
		r, err := text.New(lang, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		(&page{w: &out, r: r}).bills(checks)
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", lang, diff)
		}
	}
}
