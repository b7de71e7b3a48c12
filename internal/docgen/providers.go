package main

import (
	"slices"
	"strings"

	"curfew/providers"
)

// capability is one of a platform's, with what it means for a user.
type capability struct {
	is    providers.Capability
	means string
}

func capabilities() []capability {
	return []capability{
		{providers.CanStop, "ends the power cycle and keeps the instance"},
		{providers.CanStart, "powers it on again"},
		{providers.CanRelease, "gives it back for good, with its data"},
		{providers.CanAccess, "tells how to log in, so that curfew can look inside without a password in your file"},
		{providers.CanWallet, "reads what the account has left"},
		{providers.CanBills, "reads the platform's own bill, so that it can be compared with what curfew reckoned"},
		{providers.CanStock, "tells what can be ordered now"},
		{providers.CanOrder, "orders a new instance, which boots and costs at once"},
		{providers.CanDisks, "lists disks that are billed by themselves"},
		{providers.CanSnapshots, "lists the account's own snapshots"},
		{providers.CanImages, "lists images that the account made"},
		{providers.CanPublicIPs, "lists public addresses that are billed by themselves"},
		{providers.CanDeleteDisk, "deletes a disk for good, with its data"},
		{providers.CanDeleteSnapshot, "deletes a snapshot for good"},
		{providers.CanDeleteImage, "deletes an image for good"},
		{providers.CanDeletePublicIP, "gives a public address back; it cannot be had again"},
		{providers.CanSaveImage, "makes an image of an instance, to be kept after it is gone"},
	}
}

func providersPage(kinds []providers.Kind) string {
	var b strings.Builder
	b.WriteString(generated + `# Platforms

What each platform can do through curfew. A capability that is not marked is one
the platform lacks, or that curfew does not use yet; a policy that names such an
account and wants it is refused when the configuration is read. Each platform's
own page says how to get a key, what ends billing there, and what was verified.

`)
	head := []string{"capability", "means"}
	for _, k := range kinds {
		head = append(head, "["+k.Name+"](../providers/"+k.Name+".md)")
	}
	rows := [][]string{head}
	for _, c := range capabilities() {
		row := []string{"`" + string(c.is) + "`", c.means}
		for _, k := range kinds {
			mark := "–"
			if k.Can(c.is) {
				mark = "yes"
			}
			row = append(row, mark)
		}
		rows = append(rows, row)
	}
	table(&b, rows)

	b.WriteString("\n## How it behaves\n\n")
	head = []string{"", ""}
	for _, k := range kinds {
		head = append(head, k.Title)
	}
	rows = [][]string{head}
	add := func(what, means string, of func(providers.Kind) string) {
		row := []string{what, means}
		for _, k := range kinds {
			row = append(row, of(k))
		}
		rows = append(rows, row)
	}
	add("credential", "its keys in the entry of `accounts`", func(k providers.Kind) string { return codes(k.Credentials) })
	add("billing proof", "how one sees that billing has ended", func(k providers.Kind) string { return proof(k.BillingProof) })
	add("timer", "what the platform's own timer does when it runs out", func(k providers.Kind) string { return timer(k.TimerEffect) })
	add("auto-release", "how long after a stop the platform deletes the instance by itself", func(k providers.Kind) string { return span(k.AutoRelease) })
	add("settle time", "how long reads may lag behind a write; curfew waits as long before it believes that one had no effect", func(k providers.Kind) string { return span(k.SettleTime) })
	add("bill lag", "how long after a use the platform's bill may still lack it", func(k providers.Kind) string { return span(k.BillLag) })
	add("floor", "the shortest `poll`", func(k providers.Kind) string { return span(k.Floor) })
	add("stock floor", "the shortest time between two questions for stock", func(k providers.Kind) string { return span(k.StockFloor) })
	add("stock", "what being in stock says of what can be ordered", func(k providers.Kind) string { return stock(k) })
	add("address", "`base_url` where the entry has none", func(k providers.Kind) string { return codes(given(k.DefaultURL)) })
	table(&b, rows)
	return b.String()
}

func given(s string) []string {
	return slices.DeleteFunc([]string{s}, func(s string) bool { return s == "" })
}

func proof(p providers.BillingProof) string {
	switch p {
	case providers.ProofField:
		return "a field says so"
	case providers.ProofState:
		return "the state implies it"
	case providers.ProofNone:
		return "none; the notice says so"
	}
	return string(p)
}

func stock(k providers.Kind) string {
	switch {
	case !k.Can(providers.CanStock):
		return "–"
	case k.StockAdvisory:
		return "little: it may be sold out all the same"
	}
	return "it can, as long as nobody is faster"
}

func timer(e providers.TimerEffect) string {
	if e == providers.TimerNone {
		return "–"
	}
	return string(e)
}
