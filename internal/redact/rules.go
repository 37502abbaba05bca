package redact

// builtinRule is a value rule beside texts that it must and must not catch. A
// "·" in a text is left out before it is used; it keeps the samples from being
// taken for real secrets by tools that scan this repository.
type builtinRule struct {
	Rule
	pos, neg []string
}

// rule is short for a rule whose expression begins at its keyword.
func rule(typ, expression, validate string, keywords ...string) Rule {
	return Rule{Type: typ, Keywords: keywords, Expression: "^" + expression, Validate: validate}
}

// builtinRules are the rules with keywords. What has a form but no keyword is
// in forms.go, pem.go and jwt.go.
func builtinRules() []builtinRule {
	var all []builtinRule
	for _, group := range [][]builtinRule{cloudRules, modelRules, codeRules, messagingRules, paymentRules, headerRules, commandRules} {
		all = append(all, group...)
	}
	return all
}

// formTypes are the types of the forms without keywords.
var formTypes = []string{typeEmail, typeCard, typeJWT, typePrivateKey, typePassword, typeIBAN, typePhone}

// optionalTypes are off unless they are asked for: their forms are those of
// many other numbers too.
var optionalTypes = []string{typeIBAN, typePhone}

// end keeps a key of fixed length from being the begin of something longer.
const end = `(?:[^A-Za-z0-9_+/-]|$)`

func knownType(t string) bool {
	for _, r := range builtinRules() {
		if r.Type == t {
			return true
		}
	}
	for _, r := range keyRules {
		if r.typ == t {
			return true
		}
	}
	for _, f := range formTypes {
		if f == t {
			return true
		}
	}
	return false
}
