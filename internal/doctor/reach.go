package doctor

import (
	"curfew/fleet"
)

// Of what sees and what tells.
const (
	ReasonSignalNobody  fleet.Code = "doctor.signal-nobody"
	ReasonSignalReached fleet.Code = "doctor.signal-reached"
	ReasonSignalFailed  fleet.Code = "doctor.signal-failed"
	ReasonSignalUnsure  fleet.Code = "doctor.signal-unsure"
	ReasonSignalUnread  fleet.Code = "doctor.signal-unread"
	ReasonSignalMore    fleet.Code = "doctor.signal-more"
	ReasonSignalBad     fleet.Code = "doctor.signal-bad"
	DoSignalSSH         fleet.Code = "doctor.do-signal-ssh"
	DoSignalLook        fleet.Code = "doctor.do-signal-look"
	DoSignalConfig      fleet.Code = "doctor.do-signal-config"

	ReasonChannelNone    fleet.Code = "doctor.channel-none"
	ReasonChannelFine    fleet.Code = "doctor.channel-fine"
	ReasonChannelSent    fleet.Code = "doctor.channel-sent"
	ReasonChannelBad     fleet.Code = "doctor.channel-bad"
	ReasonChannelRefused fleet.Code = "doctor.channel-refused"
	DoChannelNone        fleet.Code = "doctor.do-channel-none"
	DoChannelConfig      fleet.Code = "doctor.do-channel-config"
	DoChannelKey         fleet.Code = "doctor.do-channel-key"

	ReasonPingFree    fleet.Code = "doctor.ping-free"
	ReasonPingDaemon  fleet.Code = "doctor.ping-daemon"
	ReasonPingNobody  fleet.Code = "doctor.ping-nobody"
	ReasonPingTaken   fleet.Code = "doctor.ping-taken"
	ReasonPingRefused fleet.Code = "doctor.ping-refused"
	DoPingReload      fleet.Code = "doctor.do-ping-reload"
	DoPingTaken       fleet.Code = "doctor.do-ping-taken"
	DoPingRefused     fleet.Code = "doctor.do-ping-refused"
)

// Look judges one look at one instance.
func Look(source, name string, e fleet.Evidence) Result {
	v := fleet.Values{"name": fleet.Text(name)}
	if !e.Reason.IsZero() {
		v["why"] = fleet.Nested(e.Reason)
	}
	if !e.Facts.Reached && !e.Outside {
		do := fleet.Because(DoSignalLook, fleet.Values{"name": fleet.Text(name)})
		if source == "ssh" {
			do = fleet.Because(DoSignalSSH, nil)
		}
		return bad(CheckSignal, source, fleet.Because(ReasonSignalFailed, v), do)
	}
	if e.Activity == fleet.Unknown {
		return warn(CheckSignal, source, fleet.Because(ReasonSignalUnsure, v), fleet.Reason{})
	}
	return fine(CheckSignal, source, fleet.Because(ReasonSignalReached, v))
}

// NoLook is the result where a source said nothing of an instance.
func NoLook(source, name string) Result {
	return bad(CheckSignal, source, fleet.Because(ReasonSignalUnread, fleet.Values{"name": fleet.Text(name)}), fleet.Reason{})
}

// Nobody is the result where nothing that runs is a source's to look at.
func Nobody(source string) Result {
	return fine(CheckSignal, source, fleet.Because(ReasonSignalNobody, nil))
}

// More says that further instances were not looked at.
func More(source string, n int) Result {
	return fine(CheckSignal, source, fleet.Because(ReasonSignalMore, fleet.Values{"count": fleet.Number(float64(n))}))
}

// BadSource is the result where a source could not look at all.
func BadSource(source string, err error) Result {
	return bad(CheckSignal, source, fleet.Because(ReasonSignalBad, fleet.Values{"why": fleet.Text(err.Error())}), fleet.Because(DoSignalConfig, nil))
}

// Channel judges a channel that nothing was sent over. perMinute and perDay are
// how many messages it takes; zero: no limit that is known.
func Channel(name string, perMinute, perDay int) Result {
	v := fleet.Values{}
	if perMinute > 0 {
		v["minute"] = fleet.Number(float64(perMinute))
	}
	if perDay > 0 {
		v["day"] = fleet.Number(float64(perDay))
	}
	return fine(CheckChannel, name, fleet.Because(ReasonChannelFine, v))
}

// NoChannel is the result where there is none.
func NoChannel() Result {
	return warn(CheckChannel, "", fleet.Because(ReasonChannelNone, nil), fleet.Because(DoChannelNone, nil))
}

// BadChannel is the result where a channel could not be opened.
func BadChannel(name string, err error) Result {
	return bad(CheckChannel, name, fleet.Because(ReasonChannelBad, fleet.Values{"why": fleet.Text(err.Error())}), fleet.Because(DoChannelConfig, nil))
}

// Sent judges a channel by the answer to a test message, in words.
func Sent(name string, ok bool, code, detail string) Result {
	v := fleet.Values{}
	if code != "" {
		v["code"] = fleet.Text(code)
	}
	if detail != "" {
		v["detail"] = fleet.Text(detail)
	}
	if ok {
		return fine(CheckChannel, name, fleet.Because(ReasonChannelSent, v))
	}
	return bad(CheckChannel, name, fleet.Because(ReasonChannelRefused, v), fleet.Because(DoChannelKey, fleet.Values{"name": fleet.Text(name)}))
}

// Bound says how a port was found.
type Bound string

// How a port can be found.
const (
	PortFree    Bound = "free"
	PortTaken   Bound = "taken"
	PortRefused Bound = "refused" // nobody may listen there
)

// Ping judges the listener for pings. answers says that a daemon runs, which then
// should have the port.
func Ping(address string, found Bound, err error, answers bool) Result {
	v := fleet.Values{"address": fleet.Text(address)}
	switch {
	case found == PortTaken && answers:
		return fine(CheckPing, "", fleet.Because(ReasonPingDaemon, v))
	case found == PortTaken:
		return bad(CheckPing, "", fleet.Because(ReasonPingTaken, v), fleet.Because(DoPingTaken, nil))
	case found == PortFree && answers:
		return bad(CheckPing, "", fleet.Because(ReasonPingNobody, v), fleet.Because(DoPingReload, nil))
	case found == PortFree:
		return fine(CheckPing, "", fleet.Because(ReasonPingFree, v))
	}
	v["why"] = fleet.Text("")
	if err != nil {
		v["why"] = fleet.Text(err.Error())
	}
	return bad(CheckPing, "", fleet.Because(ReasonPingRefused, v), fleet.Because(DoPingRefused, nil))
}
