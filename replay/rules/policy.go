package rules

// Policy says what may differ between a call and the record that answers it.
// The zero value compares everything.
type Policy struct {
	// Model says what of a model call is compared.
	Model Model `json:"model,omitzero"`
}

// Model says what of a model call is compared, beside its kind, its operation
// and what it says: the members system, messages, input and tools of its
// arguments.
type Model struct {
	// Params are the names of the parameters that are compared, on both sides.
	// Nil is each one that a record of the tape has; empty is none.
	Params []string `json:"params,omitzero"`
}
