package redact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAccountNumbers(t *testing.T) {
	p, err := New(Config{Enable: []string{"iban"}})
	require.NoError(t, err)
	for _, in := range []string{
		"DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19", "FR1420041010050500013M02606", "NL91ABNA0417164300",
		"CH93 0076 2011 6238 5295 7", "NO93 8601 1117 947", "MT84MALT011000012345MTLCAST001S", "SA0380000000608010167519", "ES91 2100 0418 4502 0005 1332",
	} {
		for _, around := range []string{"%", "pay to %.", "(%)", "x % y", `\n%`, `{"account":"%"}`} {
			out, _ := p.Text(strings.Replace(around, "%", in, 1))
			assert.Equal(t, strings.Replace(around, "%", "[REDACTED:iban]", 1), out)
		}
	}
	for _, in := range []string{
		"DE88370400440532013000", "DE8937040044053201300", "DE893704004405320130001", "XX89370400440532013000", "ADE89370400440532013000", "DE89 37040 0440 5320 1300 0",
		"de89370400440532013000", "DE89", "GB29NWBK", "DE00 9082 9959 9723 1087 48", "SHA256 0123456789ABCDEF", "RFC2616 section 14",
	} {
		out, _ := p.Text("a " + in + " b")
		assert.Equal(t, "a "+in+" b", out)
	}
	out, _ := p.JSON([]byte(`{"iban":"unknown","debtor_iban":"x","iban_valid":true,"n":"DE89370400440532013000"}`))
	assert.JSONEq(t, `{"iban":"[REDACTED:iban]","debtor_iban":"[REDACTED:iban]","iban_valid":true,"n":"[REDACTED:iban]"}`, string(out))
}

func TestTelephoneNumbers(t *testing.T) {
	p, err := New(Config{Enable: []string{"phone"}})
	require.NoError(t, err)
	for in, want := range map[string]string{
		"+49 30 1234567":                          "[REDACTED:phone]",
		"+4930123456":                             "[REDACTED:phone]",
		"call +1 (555) 234-5678 now":              "call [REDACTED:phone] now",
		"+44 20 7946 0018, +33 1 23 45 67 89":     "[REDACTED:phone], [REDACTED:phone]",
		"0049 30 1234567":                         "[REDACTED:phone]",
		"(555) 234-5678.":                         "[REDACTED:phone].",
		"555-234-5678":                            "[REDACTED:phone]",
		"(030) 123 45 67":                         "[REDACTED:phone]",
		"Tel.: 030 12345678":                      "Tel.: [REDACTED:phone]",
		"mobile 0171-1234567":                     "mobile [REDACTED:phone]",
		"phone=07911 123456":                      "phone=[REDACTED:phone]",
		`{"phone":"030 12345678","n":5552345678}`: `{"phone":"[REDACTED:phone]","n":5552345678}`,
		"tel:+49-30-1234567":                      "tel:[REDACTED:phone]",
	} {
		out, _ := p.Text(in)
		assert.Equal(t, want, out, in)
	}
	for _, in := range []string{
		"2026-08-30 12:00:00", "2026-08-30T12:00:00+02:00", "192.168.100.200", "1756555200000", "+1", "+0200", "a+1234567890", "1 + 1234567890 = x", "v1.2.3+1234567890",
		"555-123-456", "155-234-5678", "978-3-16-148410-0", "0644 12345678 file", "4111111111111112", "12345678901234", "1,234,567,890", "$1234567890", "(1) 2", "(2026) 12",
		"00000000-0000-0000-0000-000000000000", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "0.1234567890", "order 5552345678", "+99912345678901", "+9998228132490", "10.1000/182 12345678",
		"call_0123456789", "12/30/2026 10:00", "1.5e+10", "x=+12",
	} {
		out, _ := p.Text(in)
		assert.Equal(t, in, out)
	}
}

func TestOptionalFormsStayOffByDefault(t *testing.T) {
	for _, in := range []string{"+49 30 1234567", "DE89370400440532013000", `{"phone":"x","iban":"y"}`} {
		out, _ := Default().Text(in)
		assert.Equal(t, in, out)
	}
}

func FuzzNumbers(f *testing.F) {
	for _, s := range []string{"+49 30 1234567 DE89 3704 0044 0532 0130 00", "(555) 234-5678 4111 1111 1111 1111", "0049 (0)30/123-456"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkText(t, keyed(t), s) })
}
