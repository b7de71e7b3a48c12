package text

func cliTexts() entries {
	return entries{
		// Heads of columns.
		"cli.column.name":      {"NAME", "名称"},
		"cli.column.account":   {"ACCOUNT", "账号"},
		"cli.column.provider":  {"PROVIDER", "平台"},
		"cli.column.region":    {"REGION", "地域"},
		"cli.column.mode":      {"MODE", "模式"},
		"cli.column.instances": {"INSTANCES", "实例数"},
		"cli.column.state":     {"STATE", "状态"},
		"cli.column.activity":  {"ACTIVITY", "活动"},
		"cli.column.gpu":       {"GPU", "显卡"},
		"cli.column.price":     {"PRICE/H", "每小时"},
		"cli.column.so-far":    {"SO FAR", "本次花费"},
		"cli.column.next":      {"NEXT", "下一步"},
		"cli.column.read":      {"LAST READ", "上次读取"},
		"cli.column.wallet":    {"WALLET", "余额"},
		"cli.column.problem":   {"PROBLEM", "问题"},
		"cli.column.when":      {"WHEN", "时间"},
		"cli.column.act":       {"ACT", "操作"},
		"cli.column.by":        {"BY", "发起"},
		"cli.column.outcome":   {"OUTCOME", "结果"},
		"cli.column.why":       {"WHY", "原因"},
		"cli.column.step":      {"STEP", "步骤"},

		// Parts of an explanation.
		"cli.part.seen":     {"What was seen", "观察"},
		"cli.part.policies": {"What the policies say", "策略"},
		"cli.part.guard":    {"What the guard says", "检查"},
		"cli.part.runs":     {"Runs", "训练任务"},
		"cli.part.holds":    {"Holds", "暂缓"},
		"cli.part.settings": {"Settings, and who set them", "生效设置及来源"},
		"cli.part.history":  {"History", "历史"},

		// What comes next.
		"cli.next.at":       {"will {{.action}} at {{.at}} (in {{.in}}){{if .goal}}, {{.goal}}{{end}}: {{.why}}", "{{.at}} 将{{.action}}（{{.in}}后）{{if .goal}}，{{.goal}}{{end}}：{{.why}}"},
		"cli.next.soon":     {"will {{.action}} now{{if .goal}}, {{.goal}}{{end}}: {{.why}}", "即将{{.action}}{{if .goal}}，{{.goal}}{{end}}：{{.why}}"},
		"cli.next.would":    {"dry-run, else it would {{.action}}{{if .goal}}, {{.goal}}{{end}}: {{.why}}", "演练模式，否则会{{.action}}{{if .goal}}，{{.goal}}{{end}}：{{.why}}"},
		"cli.next.announce": {"will announce to {{.action}} it{{if .goal}}, {{.goal}}{{end}}: {{.why}}", "将预告{{.action}}{{if .goal}}，{{.goal}}{{end}}：{{.why}}"},
		"cli.next.unheard":  {"will {{.action}}{{if .goal}}, {{.goal}}{{end}}, {{.warn}} after a channel has taken the warning: {{.why}}", "待渠道接收预告 {{.warn}}后{{.action}}{{if .goal}}，{{.goal}}{{end}}：{{.why}}"},
		"cli.next.held":     {"waits to {{.action}}: {{.why}}", "暂缓{{.action}}：{{.why}}"},
		"cli.next.acting":   {"under way since {{.since}}: {{.action}}; waits for the platform to show it", "正在{{.action}}（{{.since}} 起），等待平台确认"},
		"cli.next.again":    {"{{.why}} (may change at {{.at}})", "{{.why}}（{{.at}} 可能变化）"},
		"cli.next.goal":     {"then {{.goal}}", "之后{{.goal}}"},

		// The guard.
		"cli.answer.allow":     {"ok", "通过"},
		"cli.answer.wait":      {"wait", "等待"},
		"cli.answer.refuse":    {"no", "拒绝"},
		"cli.check.capability": {"capability", "平台能力"},
		"cli.check.worth":      {"worth it", "是否省钱"},
		"cli.check.charge":     {"charge", "计费方式"},
		"cli.check.data":       {"data", "数据"},
		"cli.check.protection": {"protection", "保护"},
		"cli.check.ceiling":    {"ceiling", "操作上限"},
		"cli.check.hold":       {"hold", "暂缓"},
		"cli.check.warning":    {"warning", "预告"},
		"cli.check.cooldown":   {"cooldown", "冷却"},
		"cli.check.cap":        {"cap", "次数"},
		"cli.check.approval":   {"approval", "批准"},
		"cli.check.mode":       {"mode", "模式"},

		// How acts end.
		"cli.outcome.pending":            {"announced", "已预告"},
		"cli.outcome.started":            {"being sent", "正在发出"},
		"cli.outcome.written":            {"sent", "已发出"},
		"cli.outcome.done":               {"done", "完成"},
		"cli.outcome.done-still-billing": {"done, still billed", "完成，仍在计费"},
		"cli.outcome.failed":             {"failed", "失败"},
		"cli.outcome.unverified":         {"not confirmed", "未确认"},
		"cli.outcome.vanished":           {"gone", "已消失"},
		"cli.outcome.abandoned":          {"called off", "已取消"},

		// While it takes long.
		"cli.asking":  {"asking … {{.for}}", "正在询问……{{.for}}"},
		"cli.looking": {"reading accounts and looking inside … {{.for}}", "正在读取账号并查看实例……{{.for}}"},

		"cli.no-daemon":    {"no daemon is running; this is from one look of its own", "守护进程未运行；以下仅来自本次查看"},
		"cli.no-instances": {"no instances", "没有实例"},
		"cli.no-intents":   {"nothing was done yet", "尚无操作记录"},

		"cli.plan-sum":      {"{{.acts}} to act on, {{.kept}} left alone{{if .unguarded}}, {{.unguarded}} of them without a policy{{end}}", "待操作 {{.acts}} 个，不动 {{.kept}} 个{{if .unguarded}}（其中 {{.unguarded}} 个没有策略）{{end}}"},
		"cli.scope-failing": {"{{.scope}}: out of date since {{.since}}: {{.why}}", "{{.scope}}：自 {{.since}} 起数据未更新：{{.why}}"},
		"cli.scope-never":   {"{{.scope}}: never read yet", "{{.scope}}：尚未读取过"},
		"cli.unreadable":    {"{{.what}} could not be read: {{.why}}", "无法读取 {{.what}}：{{.why}}"},

		"cli.wishes":      {"wants: {{.goal}}", "要求{{.goal}}"},
		"cli.keeps":       {"keeps it", "不动"},
		"cli.state-since": {"{{.state}} since {{.since}} ({{.for}})", "{{.state}}，自 {{.since}} 起（{{.for}}）"},
		"cli.rate":        {"{{.price}}/h", "每小时 {{.price}}"},
		"cli.so-far":      {"{{.sum}} so far", "本次已花费 {{.sum}}"},
		"cli.last-read":   {"read at {{.at}}, {{.age}} ago", "读取于 {{.at}}（{{.age}}前）"},
		"cli.ago":         {"{{.at}}, {{.age}} ago", "{{.at}}（{{.age}}前）"},
		"cli.stale":       {"(too old)", "（已过期）"},
		"cli.run-open":    {"going on, last seen {{.seen}}", "运行中，最近看到于 {{.seen}}"},
		"cli.run-over":    {"{{.end}} at {{.at}}{{if .exit}}, {{.exit}}{{end}}", "{{.at}} 结束（{{.end}}）{{if .exit}}，{{.exit}}{{end}}"},
		"cli.run-exit":    {"exit code {{.code}}", "退出码 {{.code}}"},
		"cli.held-by":     {"by {{.by}} until {{.until}}{{if .why}}: {{.why}}{{end}}", "{{.by}}，至 {{.until}}{{if .why}}：{{.why}}{{end}}"},

		// Orders.
		"cli.held":       {"{{.name}} is held until {{.until}}", "{{.name}} 已暂缓至 {{.until}}"},
		"cli.freed":      {"{{.name}} is not held any more", "{{.name}} 的暂缓已解除"},
		"cli.called-off": {"called off: {{.action}} ({{.id}})", "已取消：{{.action}}（{{.id}}）"},
		"cli.too-late":   {"too late for {{.id}}: {{.action}} was requested from the platform at {{.at}}", "{{.id}} 已来不及取消：{{.at}} 已向平台请求{{.action}}"},
		"cli.approved":   {"approved: {{.action}} {{.name}} (#{{.id}})", "已批准：{{.action}} {{.name}}（#{{.id}}）"},
		"cli.confirm":    {"{{.action}} {{.name}} now? [y/N]", "现在{{.action}} {{.name}}？[y/N]"},
		"cli.not-done":   {"nothing was done", "未执行任何操作"},
		"cli.asked":      {"asked for: {{.action}} {{.name}}; curfew journal {{.id}} shows how it goes", "已发起：{{.action}} {{.name}}；用 curfew journal {{.id}} 查看进展"},
		"cli.reloaded":   {"the new configuration is in force", "新配置已生效"},
		"cli.forgotten":  {"account {{.account}} is forgotten; its journal stays", "账号 {{.account}} 已遗忘，操作记录保留"},

		// Checks.
		"cli.file-fine":      {"{{.file}} is fine: mode {{.mode}}, state in {{.state}}", "{{.file}} 没有问题：模式 {{.mode}}，状态保存在 {{.state}}"},
		"cli.account-needs":  {"account {{.name}} ({{.provider}}, {{.mode}}): at least {{.needs}} requests a day{{if .limit}}, {{.limit}} allowed{{end}}", "账号 {{.name}}（{{.provider}}，{{.mode}}）：每天至少 {{.needs}} 次请求{{if .limit}}，上限 {{.limit}} 次{{end}}"},
		"cli.policy-says":    {"policy {{.name}} ({{.type}}, {{.mode}}) is about: {{.match}}", "策略 {{.name}}（{{.type}}，{{.mode}}）适用于：{{.match}}"},
		"cli.signal":         {"signals: {{.name}}", "信号：{{.name}}"},
		"cli.channel":        {"channel {{.name}}", "渠道 {{.name}}"},
		"cli.online-fine":    {"ok   {{.what}} {{.name}}", "通过  {{.what}} {{.name}}"},
		"cli.online-bad":     {"bad  {{.what}} {{.name}}: {{.why}}", "失败  {{.what}} {{.name}}：{{.why}}"},
		"cli.online-account": {"ok   {{.what}} {{.name}}: {{.count}} instances{{if .wallet}}, {{.wallet}} left{{end}}{{if .note}}; {{.note}}{{end}}", "通过  {{.what}} {{.name}}：{{.count}} 个实例{{if .wallet}}，余额 {{.wallet}}{{end}}{{if .note}}；{{.note}}{{end}}"},
		"cli.what.account":   {"account", "账号"},
		"cli.what.signal":    {"signals", "信号"},
		"cli.what.channel":   {"channel", "渠道"},

		// One message tried.
		"cli.sent":                {"{{.channel}}: {{.verdict}}{{if .code}} (code {{.code}}){{end}}{{if .detail}}: {{.detail}}{{end}}", "{{.channel}}：{{.verdict}}{{if .code}}（代码 {{.code}}）{{end}}{{if .detail}}：{{.detail}}{{end}}"},
		"cli.verdict.ok":          {"accepted", "已接收"},
		"cli.verdict.retry":       {"not now, try again later", "暂时不收，请稍后再试"},
		"cli.verdict.bad-message": {"the message was refused", "消息被拒"},
		"cli.verdict.permanent":   {"refused until its configuration changes", "被拒，需修改配置"},
		"cli.verdict.unknown":     {"the answer tells nothing", "无法判断是否送达"},

		"cli.demo-done": {"Everything is settled", "全部处理完毕"},
		"cli.demo-read": {"The configuration, the log and the journal are in {{.dir}}; read the journal with\n  {{.command}}", "配置、日志和操作记录在 {{.dir}}；查看操作记录：\n  {{.command}}"},
	}
}
