package text

func notifyTexts() entries {
	return entries{
		// Titles: one line, also what a phone shows on its lock screen.
		"notify.title.pending":       {"Will {{.action}} {{.name}} at {{.at}} (in {{.in}})", "{{.at}} 将{{.action}}：{{.name}}（{{.in}}后）"},
		"notify.title.now":           {"Now, without waiting: {{.action}} {{.name}}", "立即{{.action}}，不再等待：{{.name}}"},
		"notify.names":               {"{{.name}} and {{.more}} more", "{{.name}} 等，另有 {{.more}} 个"},
		"notify.names-more":          {"and {{.more}} more", "另有 {{.more}} 个"},
		"notify.together":            {"Together with: {{.names}}", "一并处理：{{.names}}"},
		"notify.together-cost":       {"All of them cost {{.day}} a day", "合计每天 {{.day}}"},
		"notify.together-unknown":    {"The price of {{.count}} of them is not known", "其中 {{.count}} 个价格未知"},
		"notify.title.asked":         {"Asking now: {{.action}} {{.name}}", "正在{{.action}}：{{.name}}"},
		"notify.title.put-off":       {"Waiting to {{.action}} {{.name}}", "暂缓{{.action}}：{{.name}}"},
		"notify.title.abandoned":     {"Will not {{.action}} {{.name}} after all", "已取消{{.action}}：{{.name}}"},
		"notify.title.done":          {"Done: {{.action}} {{.name}}", "已{{.action}}：{{.name}}"},
		"notify.title.failed":        {"Could not {{.action}} {{.name}}", "{{.action}}失败：{{.name}}"},
		"notify.title.unverified":    {"Not confirmed yet: {{.action}} {{.name}}", "{{.action}}尚未确认：{{.name}}"},
		"notify.title.still-billing": {"Still billed after {{.action}}: {{.name}}", "{{.action}}后仍在计费：{{.name}}"},
		"notify.title.vanished":      {"Gone, and not by curfew: {{.name}}", "已不存在（并非由 curfew 操作）：{{.name}}"},
		"notify.title.alarm":         {"Needs a look: {{.action}} {{.name}}", "请查看：{{.action}} {{.name}}"},
		"notify.title.would":         {"Dry run: would {{.action}} {{.name}}", "演练：本应{{.action}} {{.name}}"},
		"notify.title.resolved":      {"Resolved: {{.what}}", "已恢复：{{.what}}"},
		"notify.title.reload":        {"Configuration: {{.what}}", "配置：{{.what}}"},
		"notify.title.test":          {"Test message from curfew", "curfew 测试消息"},
		"notify.title.info":          {"{{.what}}", "{{.what}}"},
		"notify.title.warning":       {"Warning: {{.what}}", "警告：{{.what}}"},
		"notify.title.critical":      {"Critical: {{.what}}", "严重：{{.what}}"},

		// What it is and what it is doing.
		"notify.owner":       {"owner {{.owner}}", "负责人 {{.owner}}"},
		"notify.state":       {"{{.state}}", "{{.state}}"},
		"notify.state-since": {"{{.state}} since {{.since}} ({{.for}})", "{{.state}}，自 {{.since}} 起（{{.for}}）"},
		"notify.seen":        {"{{.source}}: {{.activity}} at {{.at}}", "{{.source}}：{{.activity}}（{{.at}}）"},

		"notify.state.unknown":   {"state unknown", "状态未知"},
		"notify.state.creating":  {"being created", "创建中"},
		"notify.state.starting":  {"starting", "开机中"},
		"notify.state.running":   {"running", "运行中"},
		"notify.state.stopping":  {"stopping", "关机中"},
		"notify.state.stopped":   {"stopped", "已关机"},
		"notify.state.releasing": {"being released", "释放中"},
		"notify.state.released":  {"released", "已释放"},
		"notify.state.failed":    {"failed", "故障"},

		"notify.activity.unknown": {"unknown", "未知"},
		"notify.activity.busy":    {"busy", "忙碌"},
		"notify.activity.idle":    {"idle", "空闲"},

		// What it costs.
		"notify.cost.so-far":         {"{{.price}}/h, about {{.sum}} since {{.since}}", "每小时 {{.price}}，自 {{.since}} 起约 {{.sum}}"},
		"notify.cost.rate":           {"{{.price}}/h", "每小时 {{.price}}"},
		"notify.cost.unknown":        {"Price unknown", "价格未知"},
		"notify.cost.configured":     {"price from the configuration", "价格取自配置"},
		"notify.cost.stopped":        {"Costs {{.price}}/h while stopped ({{.day}} a day)", "关机状态下每小时仍收 {{.price}}（每天 {{.day}}）"},
		"notify.cost.stopped-free":   {"Costs nothing while stopped", "关机状态下不收费"},
		"notify.cost.stopped-unsure": {"What it still costs while stopped (disk, address) is not known", "关机状态下磁盘、公网 IP 是否仍收费：未知"},
		"notify.cost.total":          {"This boot cost {{.sum}}", "本次开机共花费 {{.sum}}"},
		"notify.cost.total-unknown":  {"What this boot cost is not known", "本次开机花费未知"},

		// What an act leaves behind.
		"notify.after.free":         {"After the stop it costs nothing", "关机后不再收费"},
		"notify.after.costs":        {"After the stop it still costs {{.price}}/h ({{.day}} a day)", "关机后每小时仍收 {{.price}}（每天 {{.day}}）"},
		"notify.after.costs-unsure": {"After the stop, disk and address may still cost: not known", "关机后磁盘、公网 IP 是否仍收费：未知"},
		"notify.after.billed":       {"A stop does not end billing here", "此处关机不会停止计费"},
		"notify.after.unsure":       {"Whether a stop ends billing here is not known; it will be read back", "关机是否停止计费未知，操作后会核实"},
		"notify.after.data-part":    {"A stop keeps only part of the data", "关机只保留部分数据"},
		"notify.after.data-none":    {"A stop keeps none of the data", "关机不保留数据"},
		"notify.after.data-unsure":  {"Whether a stop keeps the data is not known", "关机是否保留数据未知"},
		"notify.after.card":         {"The GPU is not reserved: a later start may find none free", "显卡不会保留，之后开机可能无卡可用"},
		"notify.after.release":      {"A release deletes it and the data on it", "释放会删除实例及其数据"},
		"notify.after.delete":       {"A delete cannot be undone", "删除后无法恢复"},
		"notify.after.goal":         {"Then: {{.goal}}, announced by itself", "之后将{{.goal}}，届时另行通知"},
		"notify.platform.stops":     {"The platform's own timer stops it at {{.at}}", "平台定时器将于 {{.at}} 将其关机"},
		"notify.platform.releases":  {"The platform itself releases it at {{.at}}", "平台将于 {{.at}} 自动释放"},
		"notify.would":              {"Nothing is done: mode is dry-run. In enforce it would {{.action}} {{.warn}} after the announcement", "不会执行：当前为 dry-run。若为 enforce，将在通知发出 {{.warn}}后{{.action}}"},
		"notify.again":              {"Looked at again at {{.at}}", "{{.at}} 再次检查"},

		// Who asked, why, and what a person can do.
		"notify.by-hand": {"Asked for by {{.who}}", "由 {{.who}} 手动发起"},
		"notify.hurried": {"Wanted now by {{.who}}, who was shown it", "{{.who}} 看过后要求立即执行"},
		"notify.policy":  {"{{.policy}}: {{.why}}", "{{.policy}}：{{.why}}"},
		"notify.more":    {"and {{.n}} more reasons", "另有 {{.n}} 条原因"},
		"notify.hold":    {"To make it wait: ", "如需暂缓："},
		"notify.explain": {"More: ", "详情："},
		"notify.test":    {"If you can read this, the channel works. Nothing happened and nothing will", "能看到这条消息，说明通道可用。没有发生任何操作"},
	}
}
