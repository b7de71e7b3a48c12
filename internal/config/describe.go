package config

import "strings"

// describe says what each key of the configuration is for, in a sentence or two
// that an editor shows. A key is named by its path without numbers; values that a
// list or a made-up key holds have their list's or their block's text. What a
// secret is need not be said here.
//
// [described] gives the text of a key.
func describe() map[string]string {
	return map[string]string{
		"mode":       "Whether anything is done, or only told. Also on an account and a policy; the milder holds.",
		"timezone":   "Zone of times in messages and schedules, such as Asia/Shanghai; the machine's where nothing is said.",
		"language":   "Language of messages and commands; from LANG where nothing is said.",
		"state":      "Where curfew remembers: sqlite: and a path. The socket of the commands lies beside it.",
		"history":    "How long what was seen is kept; 1d at least.",
		"public_url": "Where curfew is reached from outside. curfew ping-url begins with it.",

		"accounts":                               "The accounts that are watched.",
		"accounts.name":                          "What you call it.",
		"accounts.provider":                      "The platform. Each has credential keys of its own.",
		"accounts.id":                            "The account's identity, where the platform tells none and name and credential may change together.",
		"accounts.base_url":                      "Another address of the platform's API.",
		"accounts.poll":                          "How often the lists are read; each platform has a floor.",
		"accounts.requests":                      "The most requests that may be sent.",
		"accounts.requests.per_minute":           "The most requests in a minute.",
		"accounts.requests.per_day":              "The most requests in a day. curfew check compares it with what polling needs.",
		"accounts.regions":                       "Which regions are read: a list, or all.",
		"accounts.prices":                        "Price per card and hour by GPU model, where the platform does not tell.",
		"accounts.mode":                          "Whether anything is done in this account; the milder of file, account and policy holds.",
		"accounts.at_most":                       "The strongest act allowed in this account.",
		"accounts.world":                         "The file of the simulated world.",
		"accounts.machines":                      "Machines that you declare, where there is no API.",
		"accounts.machines.name":                 "What you call it; it is the machine's id and stays what it is.",
		"accounts.machines.host":                 "Its address; or local: the machine curfew itself runs in, one in the whole file.",
		"accounts.machines.port":                 "Where it takes SSH logins.",
		"accounts.machines.user":                 "Who to log in as; root where nothing is said.",
		"accounts.machines.start":                "The command that powers it on, for /bin/sh -c beside curfew. Without it it cannot be started.",
		"accounts.machines.gpu":                  "Its cards.",
		"accounts.machines.gpu.model":            "The model, such as RTX 4090.",
		"accounts.machines.gpu.count":            "How many.",
		"accounts.machines.stop":                 "The command that powers it off, for a shell in it. Without it it cannot be stopped.",
		"accounts.machines.price":                "What it costs while it runs.",
		"accounts.machines.per":                  "What the price is for.",
		"accounts.machines.billing":              "By the second, or each started hour whole.",
		"accounts.machines.on_stop":              "What a stop does. What is not said is unknown.",
		"accounts.machines.on_stop.ends_billing": "Whether a stop ends the bill. After no it is never stopped.",
		"accounts.machines.on_stop.keeps_data":   "What a stop keeps. Anything but all makes a stop count as a release.",
		"accounts.machines.expires":              "The last day of its contract. Without billing it is paid for until then, and not stopped.",
		"accounts.machines.auto_release":         "How long after a stop the platform deletes it.",
		"accounts.machines.labels":               "Labels to match and protect by.",
		"accounts.route_check":                   "An address and port that answers whenever the way to the machines works.",

		"signals":                  "How curfew sees what goes on inside.",
		"signals.type":             "ssh logs in, local looks at the machine curfew runs in, probe asks a URL or a command of yours.",
		"signals.name":             "Of probe: what you call it.",
		"signals.match":            "Of probe: which instances it is asked about; all is every one.",
		"signals.required":         "Of probe: its word is needed before an instance counts as idle.",
		"signals.url":              "Of probe: what is asked, with the instance's values in it, such as http://HOST/PATH?id={{.ID}}.",
		"signals.command":          "Of probe: what is run, with the instance's values in it.",
		"signals.header":           "Of probe: headers of the request, each a secret.",
		"signals.user":             "Who to log in as; the platform's where nothing is said.",
		"signals.every":            "How often each instance is looked at.",
		"signals.timeout":          "How long a look may take. One older than 2 × every + timeout counts for nothing.",
		"signals.busy_above":       "From this GPU utilisation on it is busy.",
		"signals.session_idle_max": "A terminal counts as work until it had no input for this long.",

		"ping":        "Pings by which runs tell of themselves. Without it nobody listens.",
		"ping.listen": "Where pings come in, and nothing else: 0.0.0.0:8421 is every address of this machine.",

		"protect":        "What matches is never stopped or released, by no policy and by no hand.",
		"protect.labels": "Any one of them protects. An instance whose labels cannot be read is protected.",
		"protect.names":  "Name patterns, such as prod-*.",

		"caps":                  "How many may be acted on in a rolling hour; what is over waits, and is told.",
		"caps.start":            "Of starts.",
		"caps.start.per_hour":   "How many at most.",
		"caps.start.percent":    "What share of the matched running instances at most.",
		"caps.stop":             "Of stops.",
		"caps.stop.per_hour":    "How many at most.",
		"caps.stop.percent":     "What share of the matched running instances at most.",
		"caps.release":          "Of releases.",
		"caps.release.per_hour": "How many at most.",
		"caps.release.percent":  "What share of the matched running instances at most.",
		"caps.delete":           "Of deletions.",
		"caps.delete.per_hour":  "How many at most.",
		"caps.delete.percent":   "What share at most.",
		"caps.order":            "Of orders.",
		"caps.order.per_hour":   "How many at most.",
		"caps.order.percent":    "What share at most.",
		"caps.money":            "Of acts for the sake of money.",
		"caps.money.per_hour":   "How many at most.",
		"caps.money.percent":    "What share of the matched running instances at most.",

		"policies":                  "What is decided. Each type has keys of its own.",
		"policies.name":             "What you call it.",
		"policies.type":             "What it goes by: the end of a run, a time of rest, a time of day, an age.",
		"policies.match":            "Which instances it is about; all is every one. Every key given must hold.",
		"policies.match.account":    "Names of accounts.",
		"policies.match.provider":   "Platforms.",
		"policies.match.name":       "Name patterns: * stands for anything, ? for one letter.",
		"policies.match.label":      "Patterns of labels' values; all must hold.",
		"policies.match.owner":      "Patterns of owners.",
		"policies.match.gpu":        "Patterns of GPU models, in any case: rtx*.",
		"policies.match.region":     "Patterns of regions.",
		"policies.match.state":      "States.",
		"policies.match.expr":       "An expression over the instance, such as gpu.count >= 4 and labels[\"tier\"] != \"prod\".",
		"policies.remind":           "How long before the end people are told, each once.",
		"policies.keepalive":        "A short boot that begins the platform's deletion clock anew.",
		"policies.keepalive.before": "How long before the deletion.",
		"policies.keepalive.for":    "How long it stays up.",
		"policies.keepalive.no_gpu": "Boot without cards, where the platform can.",
		"policies.kinds":            "What kinds of things it is about.",
		"policies.older_than":       "From what age on a snapshot or image is old.",
		"policies.keep_last":        "How many of the newest of each source are kept, whatever their age.",
		"policies.unused_for":       "For how long nothing must have used a thing.",
		"policies.then":             "What is wished.",
		"policies.data":             "The data may be destroyed. Without it a release that would destroy some becomes a stop.",
		"policies.prepaid":          "Act on instances paid for a period, too, and take the refund.",
		"policies.warn":             "From the accepted warning to the act: one length for both, or one each.",
		"policies.warn.stop":        "From the accepted warning to a stop.",
		"policies.warn.release":     "From the accepted warning to a release.",
		"policies.mode":             "Whether it acts, or only tells; the milder of file, account and policy holds.",
		"policies.at_most":          "The strongest act of this policy.",
		"policies.approval":         "Waits for curfew approve ID.",
		"policies.cooldown":         "Quiet time after an act on the same instance.",
		"policies.schedule":         "When it may ask: five fields, such as \"0 2 * * *\", on the clock of timezone, or @every 10m.",
		"policies.window":           "For how long after each tick of the schedule it may ask.",
		"policies.process":          "A regular expression for the command line of a run. Without it only run files and pings tell of runs.",
		"policies.confirm":          "What shows that a run is over.",
		"policies.confirm.looks":    "So many looks must show no such process before a run is over.",
		"policies.confirm.apart":    "The looks are at least this far apart.",
		"policies.pending_max":      "After so many looks without GPU and CPU a run that never ends is lost: told, and no ground to act.",
		"policies.grace":            "From the end of the run to the wish.",
		"policies.success":          "What shows that a run reached its aim: every key given must hold; none is exit code 0.",
		"policies.success.exit":     "The run's exit code must be 0.",
		"policies.success.file":     "This file must have changed since the run began.",
		"policies.success.log":      "The run must have written a line to a log.",
		"policies.success.log.file": "The log.",
		"policies.success.log.line": "A regular expression for the line.",
		"policies.on_failure":       "What is wished after a run that failed; never more than after one that did not.",
		"policies.on_failure.then":  "What is wished; stop where nothing is said.",
		"policies.on_failure.after": "From the end of the failed run; grace where nothing is said.",
		"policies.release_unproven": "Release also when it is not known how the run went.",
		"policies.log":              "The log whose last lines are told where a run failed or proved nothing.",
		"policies.for":              "How long it must have been at rest: 5m at least, and five rounds of looks.",
		"policies.gpu_below":        "Every card must have been below this in every look.",
		"policies.cpu_below":        "Of instances without cards: the load average must have been below this in nine looks of ten.",
		"policies.session_idle_max": "A session with input within this time is somebody at work; not below that of the signals.",
		"policies.vram_idle_max":    "While a card holds more than 1 GiB, the time of rest must be this long, if that is longer. off: held memory makes no difference.",
		"policies.boot_grace":       "What happens after a start is set-up and counts as no rest.",
		"policies.if_busy":          "What happens to one that is not idle: it is asked again until the window ends, told, or stopped after wait_max.",
		"policies.wait_max":         "Counted from the tick: wait gives up then, force acts.",
		"policies.holidays":         "Dates whose ticks are left out, on the calendar of timezone.",
		"policies.max":              "How long it may be up since it was last started.",

		"exec": "What curfew exec does with the machine it runs in when its command has ended. Its keys are those of a training policy.",

		"notify":                       "Who is told, and how.",
		"notify.digest":                "When people are told how everything stands, such as \"0 9 * * *\".",
		"notify.channels":              "Where people are told. Each type has credentials and settings of its own.",
		"notify.channels.name":         "What you call it.",
		"notify.channels.type":         "The kind of channel.",
		"notify.channels.base_url":     "Another address of the service.",
		"notify.channels.language":     "Language of its messages; the file's where nothing is said.",
		"notify.channels.min_severity": "Nothing below it is sent here, except announcements of acts.",
		"notify.routes":                "Which channels a notice goes to: the first route that takes it is the only one. Without routes everything goes to every channel.",
		"notify.routes.category":       "What it takes; everything where nothing is said.",
		"notify.routes.to":             "Names of channels.",
	}
}

// described gives the text of a key; those of exec, and of the match of a signal, are
// those of a policy.
func described(texts map[string]string, path string) string {
	if text, ok := texts[path]; ok {
		return text
	}
	if rest, ok := strings.CutPrefix(path, "exec."); ok {
		return texts["policies."+rest]
	}
	if _, key, ok := strings.Cut(path, ".match."); ok {
		return texts["policies.match."+key]
	}
	return ""
}
