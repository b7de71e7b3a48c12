package fleet

import "time"

// Item is what money is spent on.
type Item string

// The items.
const (
	ItemInstance Item = "instance"
	ItemDisk     Item = "disk"
	ItemSnapshot Item = "snapshot" // and images
	ItemIP       Item = "ip"
	ItemTraffic  Item = "traffic"
	ItemOther    Item = "other" // whatever else a platform bills, such as its monitoring
)

// Items are all items, in the order in which people see them.
func Items() []Item {
	return []Item{ItemInstance, ItemDisk, ItemSnapshot, ItemIP, ItemTraffic, ItemOther}
}

// BillKind says what kind of charge an item of a bill is.
type BillKind string

// The kinds of charges.
const (
	BillUsage   BillKind = "usage"   // for what was used, after it was
	BillPrepaid BillKind = "prepaid" // a period that was bought or renewed, before it is used
	BillRefund  BillKind = "refund"  // what was given back; its amount is negative
)

// BillItem is one line of a platform's own bill.
type BillItem struct {
	// Ref is what it was billed for; zero where the platform names no resource. Its
	// Incarnation is empty where the bill does not tell it.
	Ref  Ref      `json:"ref,omitzero"`
	Item Item     `json:"item"`
	Kind BillKind `json:"kind"`
	// From and To enclose the use that it is for: From is before To.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Amount is all that was charged, in cash and in vouchers, and Vouchers the part of
	// it that was paid with vouchers. A correction may be below nothing.
	Amount   Money `json:"amount"`
	Vouchers Money `json:"vouchers,omitzero"`
	// SettledAt is when the money was taken; zero where the platform does not tell.
	SettledAt time.Time `json:"settled_at,omitzero"`
}

// Cash is the part of the amount that was paid with money.
func (b BillItem) Cash() Money {
	return Money{Micros: b.Amount.Micros - b.Vouchers.Micros, Currency: b.Amount.Currency}
}
