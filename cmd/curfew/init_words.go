package main

import "curfew/fleet"

// What init says.
const (
	wordHello    fleet.Code = "cli.init.hello"
	wordHelloBox fleet.Code = "cli.init.hello-box"
	wordLeft     fleet.Code = "cli.init.left"
	wordNeeds    fleet.Code = "cli.init.needs"
	wordUnknown  fleet.Code = "cli.init.unknown"
	wordNothing  fleet.Code = "cli.init.nothing"
	wordHidden   fleet.Code = "cli.init.hidden"
	wordInEnv    fleet.Code = "cli.init.in-env"
	wordFromEnv  fleet.Code = "cli.init.from-env"
	wordFromFile fleet.Code = "cli.init.from-file"
	wordChecking fleet.Code = "cli.init.checking"
	wordWhatNow  fleet.Code = "cli.init.what-now"
	wordRetype   fleet.Code = "cli.init.retype"
	wordOther    fleet.Code = "cli.init.other"
	wordKeep     fleet.Code = "cli.init.keep"

	wordInside        fleet.Code = "cli.init.inside"
	wordWhichProvider fleet.Code = "cli.init.which-provider"
	wordThisMachine   fleet.Code = "cli.init.machines"
	wordCredential    fleet.Code = "cli.init.credential"
	wordAccountBad    fleet.Code = "cli.init.account-bad"
	wordAccountFine   fleet.Code = "cli.init.account-fine"
	wordTryBox        fleet.Code = "cli.init.try-box"
	wordAnother       fleet.Code = "cli.init.another"

	wordWhichChannel      fleet.Code = "cli.init.which-channel"
	wordConsole           fleet.Code = "cli.init.console"
	wordConsoleBox        fleet.Code = "cli.init.console-box"
	wordChannelCredential fleet.Code = "cli.init.channel-credential"
	wordChannelSetting    fleet.Code = "cli.init.channel-setting"
	wordOneOf             fleet.Code = "cli.init.one-of"
	wordChannelBad        fleet.Code = "cli.init.channel-bad"
	wordMasterKey         fleet.Code = "cli.init.master-key"
	wordArrived           fleet.Code = "cli.init.arrived"
	wordOtherChannel      fleet.Code = "cli.init.other-channel"
	wordNoChannel         fleet.Code = "cli.init.no-channel"

	wordWhichNames   fleet.Code = "cli.init.which-names"
	wordWhichProcess fleet.Code = "cli.init.which-process"

	wordWroteSecret fleet.Code = "cli.init.wrote-secret"
	wordWrote       fleet.Code = "cli.init.wrote"
	wordNext        fleet.Code = "cli.init.next"
	wordNextPlan    fleet.Code = "cli.init.next-plan"
	wordNextRun     fleet.Code = "cli.init.next-run"
	wordNextExec    fleet.Code = "cli.init.next-exec"

	wordExists    fleet.Code = "cli.init.exists"
	wordLeave     fleet.Code = "cli.init.leave"
	wordWriteNew  fleet.Code = "cli.init.write-new"
	wordTestAgain fleet.Code = "cli.init.test-again"
	wordAdopt     fleet.Code = "cli.init.adopt"
)

// What init says of the machine that curfew runs in.
const (
	wordBoxIs      fleet.Code = "cli.box.is"
	wordBoxMaybe   fleet.Code = "cli.box.maybe"
	wordBoxStrange fleet.Code = "cli.box.strange"
	wordCards      fleet.Code = "cli.box.cards"
	wordNoCards    fleet.Code = "cli.box.no-cards"

	wordNoCommand       fleet.Code = "cli.box.no-command"
	wordWhichStop       fleet.Code = "cli.box.which-stop"
	wordWhichStopOrNone fleet.Code = "cli.box.which-stop-or-none"
	wordNoStop          fleet.Code = "cli.box.no-stop"
	wordGivesBack       fleet.Code = "cli.box.gives-back"
	wordTakeIt          fleet.Code = "cli.box.take-it"

	wordEndsBilling  fleet.Code = "cli.box.ends-billing"
	wordBoxYes       fleet.Code = "cli.box.yes"
	wordBoxNo        fleet.Code = "cli.box.no"
	wordBillingOpen  fleet.Code = "cli.box.billing-open"
	wordKeepsData    fleet.Code = "cli.box.keeps-data"
	wordBoxAll       fleet.Code = "cli.box.all"
	wordBoxPart      fleet.Code = "cli.box.part"
	wordBoxNone      fleet.Code = "cli.box.none"
	wordDataOpen     fleet.Code = "cli.box.data-open"
	wordLoses        fleet.Code = "cli.box.loses"
	wordWhichRelease fleet.Code = "cli.box.which-release"
	wordWhichPrice   fleet.Code = "cli.box.which-price"
)
