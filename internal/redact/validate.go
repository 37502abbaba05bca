package redact

const (
	typeCard     = "card"
	typePassword = "password"
	minCard      = 14
	maxCard      = 16
)

// isCard reports whether s, digits only, is a payment card number.
func isCard(s string) bool { return len(s) >= minCard && len(s) <= maxCard && luhn(s) }

func luhn(s string) bool {
	sum := 0
	for i := range len(s) {
		c := s[len(s)-1-i]
		if c < '0' || c > '9' {
			return false
		}
		d := int(c - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

func isPathValue(string) bool { return false }

// MinNumber is the least number that can be secret by its value.
const MinNumber = 1e13
