package fleet

// The kinds of things as they are named in reasons.
const (
	codeInstance Code = "kind.instance"
	codeDisk     Code = "kind.disk"
	codeSnapshot Code = "kind.snapshot"
	codeImage    Code = "kind.image"
	codePublicIP Code = "kind.ip"
	codeWant     Code = "kind.want"
	codeAccount  Code = "kind.account"
	codeOwner    Code = "kind.owner"
	codeBudget   Code = "kind.budget"
)

// Reason names the kind in the reader's language.
func (k ThingKind) Reason() Reason {
	switch k {
	case KindDisk:
		return Because(codeDisk, nil)
	case KindSnapshot:
		return Because(codeSnapshot, nil)
	case KindImage:
		return Because(codeImage, nil)
	case KindPublicIP:
		return Because(codePublicIP, nil)
	case KindWant:
		return Because(codeWant, nil)
	case KindAccount:
		return Because(codeAccount, nil)
	case KindOwner:
		return Because(codeOwner, nil)
	case KindBudget:
		return Because(codeBudget, nil)
	}
	return Because(codeInstance, nil)
}
