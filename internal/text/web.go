package text

func webTexts() entries {
	return entries{
		// The page that a link in a message leads to.
		"web.hint":    {"Nothing is done before you press", "按下之前不会执行任何操作"},
		"web.busy":    {"Too many requests at once; nothing was done, try again in a moment", "请求过多，未执行任何操作，请稍后再试"},
		"web.stale":   {"This page was open for too long, so nothing was done; press once more", "页面打开时间过长，未执行任何操作，请再按一次"},
		"web.foreign": {"This came from another site, so nothing was done; open the link in the message itself", "请求来自其他网站，未执行任何操作，请直接打开消息中的链接"},
		"web.failed":  {"That could not be read or written; try again in a moment", "暂时无法读写状态，请稍后再试"},
		"web.method":  {"Open the link, then press", "请先打开链接，再按按钮"},
	}
}
