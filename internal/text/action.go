package text

func actionTexts() entries {
	return entries{
		"action.keep":    {"keep", "不动"},
		"action.start":   {"start", "开机"},
		"action.stop":    {"stop", "关机"},
		"action.release": {"release", "释放"},
		"action.delete":  {"delete", "删除"},
		"action.order":   {"order", "下单"},
	}
}
