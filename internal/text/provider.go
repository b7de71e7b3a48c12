package text

func providerTexts() entries {
	return entries{
		"provider.autodl-only-pro": {
			"AutoDL's API lists Pro instances only; instances rented on the market page never appear in it, so curfew cannot see them",
			"AutoDL 的 API 只列出“容器实例 Pro”，在算力市场租用的普通实例不在其中，curfew 看不到它们",
		},
		"provider.autodl-at-zero": {
			"AutoDL powers instances off by itself; at which amount, and for how long it then keeps their data, is not documented",
			"AutoDL 会强制关机；触发金额以及之后数据保留多久，官方没有说明",
		},
		"provider.sim-at-zero": {
			"the simulated cloud stops everything there, if its world says force_stop; else all runs on and is owed",
			"若模拟世界写明 force_stop，则关闭该账号的全部实例；否则继续运行并欠费",
		},
		"provider.machines-no-stop": {
			"no stop: is declared for this machine, so it cannot be stopped; declare the command that powers it off, such as stop: shutdown -h now",
			"这台机器没有声明 stop:，无法关机；请写上关机命令，例如 stop: shutdown -h now",
		},
		"provider.machines-no-start": {
			"no start: is declared for this machine, so curfew cannot power it on; declare a command that does, such as start: wakeonlan MAC",
			"这台机器没有声明 start:，curfew 无法开机；请写上开机命令，例如 start: wakeonlan MAC",
		},
		"provider.machines-late": {
			"it was not asked in the time there was for the list; the next one will",
			"这次列表的时间不够，没有轮到它，下次再查",
		},
		"provider.machines-no-way": {
			"{{.address}} cannot be reached from here ({{.error}}), which says nothing of the machine",
			"从这里连不到 {{.address}}（{{.error}}），说明不了这台机器的状态",
		},
		"provider.machines-no-login": {
			"{{.address}} refuses the login as {{.user}}: the key or password is wrong, or the address belongs to another machine now",
			"{{.address}} 拒绝以 {{.user}} 登录：密钥或密码不对，或者这个地址已经给了别的机器",
		},
		"provider.machines-stranger": {
			"{{.address}} shows another host key ({{.is}}, before {{.was}}), so it may be another machine and nothing is sent to it; if it is yours, curfew reload accepts it",
			"{{.address}} 的主机密钥变了（原来 {{.was}}，现在 {{.is}}），可能已是别的机器，不会向它发送任何命令；如果确实是您的，运行 curfew reload 即可接受",
		},
		"provider.machines-no-ssh": {
			"something answers at {{.address}}, but no login came to an end: {{.error}}",
			"{{.address}} 有响应，但登录没有完成：{{.error}}",
		},
		"provider.machines-garbled": {
			"logged in, but when it was started cannot be told: {{.error}}",
			"已登录，但读不出它的开机时间：{{.error}}",
		},
		"provider.machines-gone-once": {
			"nothing answers at {{.address}} ({{.error}}) while {{.witness}} does; it counts as off when that lasts {{.confirm}}",
			"{{.address}} 没有响应（{{.error}}），而 {{.witness}} 有响应；持续 {{.confirm}} 才算已关机",
		},
		"provider.machines-alone": {
			"nothing answers at {{.address}} ({{.error}}), nor anything else on its route: it may be off, or the network on this side is down",
			"{{.address}} 没有响应（{{.error}}），同一线路上也没有别的主机响应：可能已关机，也可能是这边的网络断了",
		},
		"provider.machines-no-check": {
			"nothing answers at {{.address}} ({{.error}}), and there is nothing else to ask whether the network works; declare route_check: HOST:PORT beside the machines",
			"{{.address}} 没有响应（{{.error}}），又没有别的主机可以用来判断网络是否正常；请在 machines 旁边写上 route_check: HOST:PORT",
		},
		"provider.sim-silent":       {"{{.instance}} does not answer", "{{.instance}} 连不上"},
		"provider.sim-started-anew": {"{{.instance}} was started again after it was listed; the next list will show it", "{{.instance}} 在上次列表之后又开过机，等下次列表更新"},
	}
}
