package text

func actionTexts() entries {
	return entries{
		"action.keep":    {"keep", "不动"},
		"action.start":   {"start", "开机"},
		"action.stop":    {"stop", "关机"},
		"action.release": {"release", "释放"},
		"action.delete":  {"delete", "删除"},
		"action.order":   {"order", "下单"},

		"kind.instance": {"instance", "实例"},
		"kind.disk":     {"disk", "云盘"},
		"kind.snapshot": {"snapshot", "快照"},
		"kind.image":    {"image", "镜像"},
		"kind.ip":       {"public address", "公网 IP"},
		"kind.want":     {"wish", "需求"},
		"kind.account":  {"account", "账号"},
		"kind.owner":    {"owner", "使用者"},
		"kind.budget":   {"budget", "预算"},
	}
}
