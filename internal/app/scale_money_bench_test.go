package app

import "testing"

// moneyRules are about every account and every thing.
const moneyRules = `
  - {name: purse, type: balance, match: all, levels: [{below: 100 CNY, then: warn}, {below: 20 CNY, then: stop-idle}], max_age: 24h}
  - {name: month, type: budget, match: all, limit: 100000000 CNY, period: month, at: {100%%: stop-idle}}
  - {name: shares, type: budget, match: {account: lab}, by: owner, limit: 1000000 CNY, period: week, at: {100%%: stop-idle}}
`

// BenchmarkMoneyScale is [BenchmarkScale] with three policies about money beside the
// others; tally-ms is what it takes to reckon both budgets once.
func BenchmarkMoneyScale(b *testing.B) { scale(b, moneyRules) }
