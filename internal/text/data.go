package text

// dataTexts are those of what becomes of an instance's data, and of what belongs to
// it, when it is released.
func dataTexts() entries {
	return entries{
		"policy.lost-disk":     {"disk {{.disk}} goes with it", "云盘 {{.disk}} 随实例删除"},
		"policy.lost-perhaps":  {"whether disk {{.disk}} goes with it is not known", "云盘 {{.disk}} 是否随实例删除未知"},
		"policy.lost-unread":   {"its disks could not be listed", "无法列出它的云盘"},
		"policy.lost-own":      {"the data on the instance itself goes with it", "实例自身的数据随之删除"},
		"policy.left-delete":   {"it belonged to {{.name}} alone, released at {{.at}}{{if .day}}; it costs {{.day}} a day{{end}}", "它只属于 {{.at}} 已释放的 {{.name}}{{if .day}}；每天 {{.day}}{{end}}"},
		"policy.left-spare":    {"it is an image of {{.name}}, and the last {{.keep}} are kept{{if .day}}; it costs {{.day}} a day{{end}}", "它是 {{.name}} 的镜像，只保留最新的 {{.keep}} 个{{if .day}}；每天 {{.day}}{{end}}"},
		"policy.left-attached": {"it still shows as attached to {{.name}}", "仍显示挂载在 {{.name}} 上"},
		"policy.left-used":     {"it is left alone, since it {{if .by}}is used by {{.by}}{{else}}was used{{end}} after the release", "释放之后{{if .by}}被 {{.by}} 使用{{else}}又被使用过{{end}}，不再处理"},
		"policy.left-new":      {"it is left alone, since it was made after the release", "它创建于释放之后，不再处理"},

		"data.own-kept":        {"A release keeps the data on the instance itself", "释放会保留实例自身的数据"},
		"data.disks-destroyed": {"Destroyed with it: {{.things}}", "随实例删除：{{.things}}"},
		"data.disks-unsure":    {"Not known whether it is destroyed with it, so it counts as such: {{.things}}", "是否随实例删除未知，按删除处理：{{.things}}"},
		"data.things-deleted":  {"Deleted afterwards by policy {{.policy}}: {{.things}}", "之后由策略 {{.policy}} 删除：{{.things}}"},
		"data.things-stay":     {"Stays: {{.things}}", "保留：{{.things}}"},
		"data.listed":          {"{{.kind}} {{.thing}} ({{if .day}}{{.day}} a day{{else if .free}}free{{else}}cost not known{{end}}){{if .rest}}, {{.rest}}{{end}}", "{{.kind}} {{.thing}}（{{if .day}}每天 {{.day}}{{else if .free}}免费{{else}}费用未知{{end}}）{{if .rest}}、{{.rest}}{{end}}"},
		"data.listed-more":     {"and {{.more}} more", "等另外 {{.more}} 个"},
		"data.remains":         {"Left, and {{.taker}}: {{.things}}", "遗留，{{.taker}}：{{.things}}"},
		"data.disks-unread":    {"Its disks could not be listed, so whether one is destroyed is not known", "无法列出它的云盘，是否有云盘随之删除未知"},
		"data.nothing-costs":   {"Nothing of {{.name}} costs any more", "{{.name}} 已不再产生任何费用"},
		"data.remains-unread":  {"Whether something of kind {{.kind}} is left is not known: the list could not be read", "是否遗留{{.kind}}未知：列表无法读取"},
		"data.taken-by":        {"policy {{.policy}} will delete it", "策略 {{.policy}} 将会删除"},
		"data.taken-later":     {"policy {{.policy}} deletes it if it stays like this for {{.after}}", "若保持不变满 {{.after}}，策略 {{.policy}} 将会删除"},
		"data.taken-by-nobody": {"no policy will delete it", "没有策略会处理"},
		"data.left-deleted":    {"it was deleted at {{.at}}", "已于 {{.at}} 删除"},

		"image.first":      {"An image is saved before the release, within {{.timeout}}; it costs for as long as it is kept (policy {{.policy}})", "释放前会先保存镜像，最长 {{.timeout}}；镜像保留期间可能收费（策略 {{.policy}}）"},
		"image.making":     {"image {{.image}} is being made", "正在保存镜像 {{.image}}"},
		"image.reading":    {"the list of images could not be read: {{.error}}", "无法读取镜像列表：{{.error}}"},
		"image.refused":    {"the platform refused to save an image: {{.error}}", "平台拒绝保存镜像：{{.error}}"},
		"image.cannot":     {"curfew cannot save images at {{.provider}}", "curfew 无法在 {{.provider}} 保存镜像"},
		"image.unnamed":    {"the image has no name: {{.why}}", "无法确定镜像名称：{{.why}}"},
		"image.gone":       {"image {{.image}} was accepted, but the list does not show it", "镜像 {{.image}} 已被受理，但列表中没有"},
		"image.never-came": {"image {{.image}} was asked for twice and never came", "两次请求保存镜像 {{.image}} 均未生成"},
		"image.timed-out":  {"image {{.image}} was not ready after {{.timeout}}", "镜像 {{.image}} 在 {{.timeout}} 后仍未完成"},
		"image.spare":      {"there are more than the last {{.keep}} images of it, and curfew cannot delete images at {{.provider}}: delete the older ones by hand", "它的镜像已超过 {{.keep}} 个，而 curfew 无法在 {{.provider}} 删除镜像：请手动删除旧镜像"},
	}
}
