package estimate

import "curfew/fleet"

// Items are the five parts of a total.
type Items struct {
	Instance fleet.Money `json:"instance"`
	Disk     fleet.Money `json:"disk"`
	Images   fleet.Money `json:"images"` // snapshots and images
	PublicIP fleet.Money `json:"public_ip"`
	Traffic  fleet.Money `json:"traffic"`
}

func (i *Items) each() []*fleet.Money {
	return []*fleet.Money{&i.Instance, &i.Disk, &i.Images, &i.PublicIP, &i.Traffic}
}

// sum adds the items up, each so many times; false: it is beyond counting.
func (i Items) sum() (fleet.Money, bool) {
	var sum Number
	for _, m := range i.each() {
		sum = sum.plus(Whole(m.Micros))
	}
	return sum.money(i.Instance.Currency)
}

// Cost is what a job costs at one offer with one number of cards.
type Cost struct {
	Job   string `json:"job,omitempty"`
	Offer Offer  `json:"offer"`
	Cards int    `json:"cards"` // that work
	Paid  int    `json:"paid_cards,omitempty"`
	// Hours is how long it is up, Billed what is paid for, Waiting the part of it in
	// which no work is done: set-up and transfers.
	Hours       Number      `json:"hours"`
	Billed      Number      `json:"billed_hours"`
	Waiting     Number      `json:"waiting_hours"`
	WaitingCost fleet.Money `json:"waiting_cost"`
	Items       Items       `json:"items"`
	Total       fleet.Money `json:"total"`
	WithMargin  fleet.Money `json:"with_margin"`
	// PerUnit is the cost of an epoch or, where work is measured in hours, of one.
	PerUnit fleet.Money `json:"per_unit"`
	// BesideGPU is the percentage of the total that is not the instance.
	BesideGPU Number `json:"beside_gpu_percent"`
	// PerHour is what an hour comes to where the price is of something else, and Base
	// the hours it was spread over.
	PerHour fleet.Money `json:"per_hour,omitzero"`
	Base    Number      `json:"base_hours,omitzero"`
	// Missing are items that the job needs and whose price nobody told: the total is
	// at least this.
	Missing  []fleet.Code   `json:"missing,omitempty"`
	Why      []fleet.Reason `json:"why,omitempty"`
	Warnings []fleet.Reason `json:"warnings,omitempty"`

	units  int    // of the price
	rate   Number // millionths an hour or, prepaid, a period; of all units
	offer  int    // its place among those given
	job    int
	number Job
}

// reckoning is the making of one cost.
type reckoning struct {
	Cost
	fx       FX
	currency string
	beyond   bool
}

// Reckon gives what a job costs at an offer with so many cards, in the currency that
// the rates make of the offer's; or why that cannot be told.
func Reckon(j Job, o Offer, cards int, fx FX, margin Number) (Cost, fleet.Reason) {
	r := reckoning{Cost: Cost{Job: j.Name, Offer: o, Cards: cards, number: j}, fx: fx}
	if o.Price.Micros <= 0 {
		return Cost{}, fleet.Because(LeftNoPrice, nil)
	}
	r.currency = fx.target(o.Price.Currency)
	for _, c := range o.currencies() {
		if to := fx.target(c); to != r.currency {
			return Cost{}, fleet.Because(LeftCurrencies, fleet.Values{"first": fleet.Text(r.currency), "second": fleet.Text(to)})
		}
	}
	if !r.time(j) {
		return Cost{}, fleet.Because(LeftNoEpoch, nil)
	}
	r.instance()
	kept := r.Hours.max(Hours(j.Keep))
	r.Items.Disk = r.money(r.stored(ItemDisk, o.Disk, j.DiskGB, kept))
	r.Items.Images = r.money(r.stored(ItemSnapshot, o.Snapshot, j.SnapshotGB, kept).plus(r.stored(ItemImage, o.Image, j.ImageGB, kept)))
	r.Items.PublicIP = r.money(r.address(kept))
	r.Items.Traffic = r.money(r.traffic(j.Download.GB))
	total, ok := r.Items.sum()
	if !ok || r.beyond {
		return Cost{}, fleet.Because(LeftBeyond, nil)
	}
	r.Total = total
	sum := Whole(total.Micros)
	r.WithMargin = r.money(sum.times(Whole(1).plus(margin)))
	r.PerUnit = r.money(sum.over(j.Units()))
	r.BesideGPU = sum.minus(Whole(r.Items.Instance.Micros)).times(Whole(100)).over(sum)
	if r.beyond {
		return Cost{}, fleet.Because(LeftBeyond, nil)
	}
	return r.Cost, fleet.Reason{}
}

// money rounds a sum, once.
func (r *reckoning) money(micros Number) fleet.Money {
	m, ok := micros.money(r.currency)
	r.beyond = r.beyond || !ok
	return m
}

func (r *reckoning) why(code fleet.Code, v fleet.Values) {
	r.Why = append(r.Why, fleet.Because(code, v))
}

func (r *reckoning) warn(code fleet.Code, v fleet.Values) {
	r.Warnings = append(r.Warnings, fleet.Because(code, v))
}

// time reckons how long it takes, and how much of that is paid for; false: nobody
// measured it there.
func (r *reckoning) time(j Job) bool {
	o := r.Offer
	work, ok := j.work(o)
	if !ok {
		return false
	}
	if j.Scaled() {
		share, of := j.efficiency(o, r.Cards)
		work = work.over(Whole(int64(r.Cards)).times(share))
		if of != r.Cards {
			r.warn(WarnEfficiency, fleet.Values{
				"cards": count(r.Cards), "of": count(of), "share": fleet.Text(share.times(Whole(100)).Short(1)),
			})
		}
	}
	if o.Charge == Spot {
		work = work.times(Whole(1).plus(j.Rework))
		if j.Rework.IsZero() {
			r.warn(WarnNoRework, nil)
		} else {
			r.why(WhyRework, fleet.Values{"share": fleet.Text(j.Rework.times(Whole(100)).Short(1))})
		}
	}
	r.Waiting = Hours(j.Setup).plus(j.Upload.Hours()).plus(j.Download.Hours())
	r.Hours = work.plus(r.Waiting)
	r.Billed = r.Hours
	if o.Billing == fleet.BillingPerHour {
		r.Billed = r.Hours.ceil()
	}
	return true
}

// instance reckons what the machine costs.
func (r *reckoning) instance() {
	o := r.Offer
	r.units, r.Paid = o.units(r.Cards)
	switch {
	case r.Paid == 0 && r.Cards > 1:
		r.warn(WarnMachine, fleet.Values{"cards": count(r.Cards)})
	case r.Paid > r.Cards:
		r.why(WhyPaid, fleet.Values{"paid": count(r.Paid), "cards": count(r.Cards)})
	}
	if o.perMachine() && r.units > 1 {
		r.why(WhyMachines, fleet.Values{"count": count(r.units)})
	}
	units := Whole(int64(r.units))
	switch d := dayOf(o, r.fx); {
	case o.Charge.Prepaid():
		r.prepaid(units)
	case d != nil:
		r.rate = d.mean().times(units)
		r.PerHour, r.Base = r.money(r.rate), Whole(24)
		r.Items.Instance = r.money(r.rate.times(r.Billed))
		low, high, lowAt, highAt := d.span(r.Billed)
		r.why(WhyDay, fleet.Values{
			"mean": exact(r.PerHour), "low": exact(r.money(low.times(units)).Round()), "lowAt": clock(lowAt),
			"high": exact(r.money(high.times(units)).Round()), "highAt": clock(highAt),
		})
	default:
		r.rate = r.fx.micros(o.Price).times(units)
		r.Items.Instance = r.money(r.rate.times(r.Billed))
	}
	if r.Billed.Cmp(r.Hours) > 0 && !o.Charge.Prepaid() {
		r.why(WhyRounded, fleet.Values{"billed": fleet.Text(r.Billed.Short(3)), "hours": fleet.Text(r.Hours.Short(3))})
	}
	if r.Waiting.IsZero() {
		r.WaitingCost = r.money(Number{})
		return
	}
	per := r.rate
	if o.Charge.Prepaid() {
		per = per.over(r.Base)
	}
	r.WaitingCost = r.money(per.times(r.Waiting))
	r.why(WhyWaiting, fleet.Values{"hours": fleet.Text(r.Waiting.Short(3)), "cost": exact(r.WaitingCost.Round())})
}

// prepaid reckons whole periods. A price per hour is paid for every hour of one.
func (r *reckoning) prepaid(units Number) {
	o := r.Offer
	r.rate = r.fx.micros(o.Price).times(units)
	switch {
	case o.Per == PerCardHour || o.Per == PerMachineHour:
		r.rate = r.rate.times(o.Charge.hours())
	case (o.Per == PerCardMonth || o.Per == PerMachineMonth) && o.Charge == Year:
		r.rate = r.rate.times(Whole(12))
	}
	r.Base = o.included()
	r.Billed = r.Hours.over(r.Base).ceil().max(Whole(1)).times(r.Base)
	periods := r.Billed.over(r.Base)
	r.PerHour = r.money(r.rate.over(r.Base))
	r.Items.Instance = r.money(r.rate.times(periods))
	r.why(WhyPeriods, fleet.Values{
		"count": fleet.Text(periods.Short(0)), "price": exact(r.money(r.rate).Round()),
		"each": exact(r.PerHour.Round()), "base": fleet.Text(r.Base.Short(3)),
	})
}

// stored reckons data that is kept. What the job needs and nobody told the price of
// is missing.
func (r *reckoning) stored(what fleet.Code, s Storage, gb, kept Number) Number {
	if gb.IsZero() || s.AllFree {
		return Number{}
	}
	paid := gb.minus(s.FreeGB)
	if paid.Cmp(Number{}) <= 0 {
		return Number{}
	}
	if s.Price.Currency == "" {
		r.missing(what)
		return Number{}
	}
	if s.NotStopped {
		kept = r.Hours
	}
	base := Whole(24)
	if s.Per == PerGBMonth {
		base = Whole(HoursOfMonth)
	}
	v := fleet.Values{
		"what": item(what), "gb": fleet.Text(paid.Short(3)), "price": exact(s.Price), "per": fleet.Text(string(s.Per)),
		"days": fleet.Text(kept.over(Whole(24)).Short(3)),
	}
	if s.Per == PerGBMonth {
		v["month"] = fleet.Text("30")
	}
	r.why(WhyStored, v)
	return r.fx.micros(s.Price).times(paid).times(kept).over(base)
}

func (r *reckoning) missing(what fleet.Code) {
	r.Missing = append(r.Missing, what)
	r.warn(WarnMissing, fleet.Values{"what": item(what)})
}

func (r *reckoning) address(kept Number) Number {
	a := r.Offer.PublicIP
	if a.Price.Currency == "" {
		return Number{}
	}
	if a.NotStopped {
		kept = r.Hours
	}
	base := Whole(1)
	switch a.Per {
	case PerDay:
		base = Whole(24)
	case PerMonth:
		base = Whole(HoursOfMonth)
	}
	r.why(WhyAddress, fleet.Values{"hours": fleet.Text(kept.Short(3)), "price": exact(a.Price), "base": fleet.Text(base.String())})
	return r.fx.micros(a.Price).times(kept).over(base)
}

// traffic reckons what leaves. Rented bandwidth costs as long as the machine is up,
// whatever goes over it.
func (r *reckoning) traffic(gb Number) Number {
	t := r.Offer.Traffic
	if t.Per == PerMbpsMonth && t.Price.Currency != "" {
		r.why(WhyLine, fleet.Values{"mbps": fleet.Text(t.Mbps.Short(3)), "price": exact(t.Price), "hours": fleet.Text(r.Hours.Short(3)), "month": count(HoursOfMonth)})
		return r.fx.micros(t.Price).times(t.Mbps).times(r.Hours).over(Whole(HoursOfMonth))
	}
	paid := gb.minus(t.FreeGB)
	switch {
	case t.AllFree || paid.Cmp(Number{}) <= 0:
		return Number{}
	case t.Price.Currency == "":
		r.missing(ItemTraffic)
		return Number{}
	}
	r.why(WhyMoved, fleet.Values{"gb": fleet.Text(paid.Short(3)), "price": exact(t.Price)})
	return r.fx.micros(t.Price).times(paid)
}

// Utilisation is how many times less the same work costs where cards are busy for
// the second share of the time in place of the first.
func Utilisation(now, then Number) Number { return then.over(now) }

// Less is what the same work costs where cards are busy for the second share of the
// time in place of the first.
func Less(m fleet.Money, now, then Number) (fleet.Money, bool) {
	return Whole(m.Micros).over(Utilisation(now, then)).money(m.Currency)
}

// complete reports whether nothing is missing.
func (c Cost) complete() bool { return len(c.Missing) == 0 }

// hours is for how long a machine is up for all repetitions of a job.
func (c Cost) hours() Number { return c.Hours.times(c.number.times()) }
