package text

func pingTexts() entries {
	return entries{
		"cli.ping-start":   {"a run begins", "任务开始"},
		"cli.ping-success": {"it succeeded", "任务成功"},
		"cli.ping-fail":    {"it failed", "任务失败"},
		"cli.ping-exit":    {"it ended, by its exit status", "任务结束，附退出码"},
		"cli.ping-log":     {"text only", "仅附文字"},
		"cli.ping-example": {"In the instance", "在实例里"},
		"cli.ping-host":    {"public_url is not set; for HOST write the address by which the instance reaches this machine", "没有设置 public_url；请把 HOST 换成实例访问本机所用的地址"},
	}
}
