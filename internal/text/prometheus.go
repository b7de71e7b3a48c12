package text

func prometheusTexts() entries {
	return entries{
		"prometheus.busy": {
			"prometheus {{.signal}} gives {{.value}}, busy above {{.above}}",
			"prometheus {{.signal}} 的值为 {{.value}}，高于 {{.above}} 即为忙碌",
		},
		"prometheus.idle": {
			"prometheus {{.signal}} gives {{.value}}, idle up to {{.above}}",
			"prometheus {{.signal}} 的值为 {{.value}}，不高于 {{.above}} 即为空闲",
		},
		"prometheus.empty": {
			"the query gives no value: nothing of that kind is scraped now",
			"查询没有返回任何值：目前没有采集到这样的指标",
		},
		"prometheus.absent": {
			"of {{.count}} values none has {{.label}} equal to {{.name}} or its id",
			"返回的 {{.count}} 个值中，没有一个的 {{.label}} 等于 {{.name}} 或其 ID",
		},
		"prometheus.several": {
			"the query gives {{.count}} values for it where one is needed; max by (…) makes one of them",
			"查询为它返回了 {{.count}} 个值，而只需要一个；可用 max by (…) 合并",
		},
		"prometheus.twin": {
			"instance {{.other}} is called {{.value}} as well: whose value that is cannot be told",
			"实例 {{.other}} 也叫 {{.value}}，无法判断这个值属于哪一个",
		},
		"prometheus.not-a-number": {"the value is {{.value}}, which is no number", "值为 {{.value}}，不是数字"},
		"prometheus.form":         {"the query gives a {{.form}}, not a number", "查询返回的是 {{.form}}，不是一个数字"},
		"prometheus.old": {
			"the answer is of {{.at}}, not of now: it comes from a cache, or a clock is wrong",
			"应答的时间是 {{.at}}，不是现在：它来自缓存，或有时钟不准",
		},
		"prometheus.error": {"Prometheus answers with an error: {{.said}}", "Prometheus 返回错误：{{.said}}"},
		"prometheus.warned": {
			"Prometheus warns that the answer may not be whole: {{.said}}",
			"Prometheus 警告应答可能不完整：{{.said}}",
		},
		"prometheus.garbled":  {"this is no answer of Prometheus: {{.said}}", "这不是 Prometheus 的应答：{{.said}}"},
		"prometheus.long":     {"the answer is longer than {{.limit}} MB", "应答超过 {{.limit}} MB"},
		"prometheus.status":   {"it answers with status {{.status}}", "返回状态码 {{.status}}"},
		"prometheus.redirect": {"it answers with a redirect ({{.status}}), which is not followed", "返回重定向（{{.status}}），不予跟随"},
		"prometheus.type":     {"it answers {{.type}}, which is not JSON", "返回的是 {{.type}}，不是 JSON"},
		"prometheus.timeout":  {"no answer within {{.timeout}}", "{{.timeout}}内没有应答"},
		"prometheus.failed":   {"it could not be asked: {{.error}}", "无法询问：{{.error}}"},
		"prometheus.missing":  {"the query names {{.what}}, which this instance does not have", "查询里用到 {{.what}}，而该实例没有"},
		"prometheus.unread":   {"the query names {{.what}}, which could not be read of this instance", "查询里用到 {{.what}}，而该实例的这一项无法读取"},
		"prometheus.match":    {"whether it is about this instance cannot be told: {{.why}}", "无法判断它是否针对该实例：{{.why}}"},
	}
}
