package text

func offerTexts() entries {
	return entries{
		"offer.no-want":    {"no card is asked for", "没有说明要哪种显卡"},
		"offer.model":      {"it is {{if .is}}{{.is}}{{else}}without a card{{end}}; wanted is {{.want}}", "它{{if .is}}是 {{.is}}{{else}}没有显卡{{end}}，要的是 {{.want}}"},
		"offer.count":      {"it has {{.is}} cards on one host; wanted are {{.want}}", "单机 {{.is}} 卡，要的是 {{.want}} 卡"},
		"offer.charge":     {"it is paid for {{if .is}}as {{.is}}{{else}}in a way that is not told{{end}}, which nobody asked for", "计费方式{{if .is}}是 {{.is}}{{else}}未告知{{end}}，没有人要这种"},
		"offer.region":     {"it is in {{if .is}}{{.is}}{{else}}a region that is not told{{end}}; wanted is {{.want}}", "地区{{if .is}}是 {{.is}}{{else}}未告知{{end}}，要的是 {{.want}}"},
		"offer.gpu-memory": {"its cards have {{.is}} GB of memory; wanted are at least {{.want}}", "显存 {{.is}} GB，至少要 {{.want}} GB"},
		"offer.cpu":        {"it has {{.is}} processor cores; wanted are at least {{.want}}", "CPU {{.is}} 核，至少要 {{.want}} 核"},
		"offer.memory":     {"it has {{.is}} GB of memory; wanted are at least {{.want}}", "内存 {{.is}} GB，至少要 {{.want}} GB"},
		"offer.unsaid":     {"the platform does not tell {{.what}}, which is asked for", "要求了{{.what}}，平台没有告知"},
		"offer.cuda":       {"its driver runs CUDA {{.is}}; wanted is {{.want}}", "驱动支持 CUDA {{.is}}，要的是 {{.want}}"},
		"offer.price":      {"it costs {{.is}} an hour; at most {{.want}} is allowed", "每小时 {{.is}}，最多只允许 {{.want}}"},
		"offer.currency":   {"it costs {{.is}} an hour, which cannot be compared with the limit of {{.want}}", "每小时 {{.is}}，币种不同，无法与上限 {{.want}} 比较"},
		"offer.no-price":   {"what it costs is not known, and at most {{.want}} an hour is allowed", "价格未知，而上限是每小时 {{.want}}"},
		"offer.sold-out":   {"it is sold out", "已售罄"},

		"offer.unsaid-gpu-memory": {"the memory of its cards", "显存"},
		"offer.unsaid-cpu":        {"its processor cores", "CPU 核数"},
		"offer.unsaid-memory":     {"its memory", "内存"},
		"offer.unsaid-cuda":       {"which CUDA its driver runs", "驱动支持的 CUDA 版本"},
	}
}
