package fleet

// ReasonError is an error that can be told in the reader's language. The reason is
// for people; Err is the same in English, for logs and for who looks for a cause.
type ReasonError struct {
	Reason Reason
	Err    error // may be nil
}

// Error gives the English text, or the code where there is none.
func (e *ReasonError) Error() string {
	if e.Err == nil {
		return string(e.Reason.Code)
	}
	return e.Err.Error()
}

// Unwrap gives the cause.
func (e *ReasonError) Unwrap() error { return e.Err }
