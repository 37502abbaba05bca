package redact

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestNamedValuesInFreeText(t *testing.T) {
	for in, want := range map[string]string{
		// Python and JavaScript literals, whole, nested, cut.
		`{'api_key': 'x', 'q': 1}`:                                 `{'api_key': '[REDACTED:api_key]', 'q': 1}`,
		`{'password': 1234, 'otp': True, 'cvv': None}`:             `{'password': 0, 'otp': False, 'cvv': None}`,
		`{'credentials': {'user': 'bob', 'pin': 7, 'x': ['y']}}`:   `{'credentials': {'user': '[REDACTED:credential]', 'pin': 0, 'x': ['[REDACTED:credential]']}}`,
		`{'previous_models': [{'api_key': 'sk', 'model': 'gpt'}]}`: `{'previous_models': [{'api_key': '[REDACTED:api_key]', 'model': 'gpt'}]}`,
		`{"token": b'abc', "n": 1, }`:                              `{"token": b'[REDACTED:token]', "n": 1, }`,
		`{apiKey: "abc", retries: 3}`:                              `{apiKey: "[REDACTED:api_key]", retries: 3}`,
		`{"password": "hun`:                                        `{"password": "[REDACTED:password]`,
		`[{"arguments": "{\"password\": \"hunter2\", \"q\": \"a`:   `[{"arguments": "{\"password\": \"[REDACTED:password]\", \"q\": \"a`,
		`"{\\\"password\\\": \\\"hunter2\\\", \\\"q\\\": 1`:        `"{\\\"password\\\": \\\"[REDACTED:password]\\\", \\\"q\\\": 1`,
		`{'properties': {'password': {'type': 'string'}}, 'x': 1}`: `{'properties': {'password': {'type': 'string'}}, 'x': 1}`,
		`{'password': 'it\'s', 'a': 'b'}`:                          `{'password': '[REDACTED:password]', 'a': 'b'}`,
		// Headers.
		`Authorization: Bearer x`:                                  `Authorization: [REDACTED:authorization]`,
		`curl -H "Authorization: Bearer abc.def" https://x.test/a`: `curl -H "Authorization: [REDACTED:authorization]" https://x.test/a`,
		"GET / HTTP/1.1\r\nCookie: sid=1; theme=dark\r\nHost: x":   "GET / HTTP/1.1\r\nCookie: [REDACTED:cookie]\r\nHost: x",
		`Authorization: Digest username="u", realm="r"`:            `Authorization: [REDACTED:authorization]"u", realm="r"`,
		`Authorization: Bearer abc123def status=200`:               `Authorization: [REDACTED:authorization] status=200`,
		`X-Api-Key: 0a1b2c`:                                        `X-Api-Key: [REDACTED:api_key]`,
		`Set-Cookie: id=a3fWa; Secure`:                             `Set-Cookie: [REDACTED:cookie]`,
		// Query strings, command lines, environments, configuration, logs.
		`https://x.test/a?user=bob&password=hunter2&q=1`:             `https://x.test/a?user=bob&password=[REDACTED:password]&q=1`,
		`grant_type=x&client_secret=abc`:                             `grant_type=x&client_secret=[REDACTED:secret]`,
		`mysql --user root --password hunter2 db`:                    `mysql --user root --password [REDACTED:password] db`,
		`deploy --token=abc --force`:                                 `deploy --token=[REDACTED:token] --force`,
		`export OPENAI_API_KEY=abc; run`:                             `export OPENAI_API_KEY=[REDACTED:api_key]; run`,
		"user: bob\npassword: hunter2\n":                             "user: bob\npassword: [REDACTED:password]\n",
		`host=db1 token=abc connection refused`:                      `host=db1 token=[REDACTED:token] connection refused`,
		`AuthenticationError: Incorrect API key provided: api_key=q`: `AuthenticationError: Incorrect API key provided: api_key=[REDACTED:api_key]`,
		`<user>bob</user><password>hunter2</password>`:               `<user>bob</user><password>[REDACTED:password]</password>`,
		`config["db.password"] = "hunter2"`:                          `config["db.password"] = "[REDACTED:password]"`,
		`if password == "hunter2" {`:                                 `if password == "[REDACTED:password]" {`,
		`:password => "hunter2"`:                                     `:password => "[REDACTED:password]"`,
		`password := "hunter2"`:                                      `password := "[REDACTED:password]"`,
		`line\npassword=hunter2\nnext`:                               `line\npassword=[REDACTED:password]\nnext`,
		`PWD=/home/bob pwd=hunter2`:                                  `PWD=/home/bob pwd=[REDACTED:pwd]`,
		`curl -H 'Authorization: Bearer ${TOKEN}' x`:                 `curl -H 'Authorization: Bearer ${TOKEN}' x`,
		`get(url, auth=('bob', 'hunter2'))`:                          `get(url, auth=('[REDACTED:authorization]', '[REDACTED:authorization]'))`,
		"cookies = {'sid': 'a'}\nx = 'b'":                            "cookies = {'sid': '[REDACTED:cookie]'}\nx = 'b'",
		// Code and prose keep what is no value.
		`I set the token: it is required. Cookie: yes. (password: see below)`:    `I set the token: it is required. Cookie: yes. (password: see below)`,
		`self.password = password; token = Name.Builtin`:                         `self.password = password; token = Name.Builtin`,
		`{"token": self.token(x), 'secret': cfg.secret}`:                         `{"token": self.token(x), 'secret': cfg.secret}`,
		`Errorf("no token: %w", err)`:                                            `Errorf("no token: %w", err)`,
		`func f(token Token, auth: Auth, cookie: Cookie) { s = {secret: none} }`: `func f(token Token, auth: Auth, cookie: Cookie) { s = {secret: none} }`,
		`def login(user: str, password: str) -> bool:`:                           `def login(user: str, password: str) -> bool:`,
		`token = get_token(user)`:                                                `token = get_token(user)`,
		`client = Client(api_key=os.environ["KEY"])`:                             `client = Client(api_key=os.environ["KEY"])`,
		`Client(token=token, password=self.password)`:                            `Client(token=token, password=self.password)`,
		`curl -u bob:$PASSWORD --token ${TOKEN}`:                                 `curl -u bob:$PASSWORD --token ${TOKEN}`,
		`Token::Identifier, std::secret`:                                         `Token::Identifier, std::secret`,
		`if token != x { token == y }`:                                           `if token != x { token == y }`,
		`max_tokens=100 token_count: 5 tokenizer=gpt2`:                           `max_tokens=100 token_count: 5 tokenizer=gpt2`,
		`The secret of a good token is its count.`:                               `The secret of a good token is its count.`,
		`secret://vault/path`:                                                    `secret://vault/path`,
		`password=[REDACTED:password]&x=1`:                                       `password=[REDACTED:password]&x=1`,
	} {
		out, _ := Default().Text(in)
		assert.Equal(t, want, out, "of %s", in)
	}
}

func TestValuesByForm(t *testing.T) {
	for in, want := range map[string]string{
		`write to bob.smith+x@example.co.uk, please`:                                 `write to [REDACTED:email], please`,
		`<bob@example.com>`:                                                          `<[REDACTED:email]>`,
		`u=bob%40example.com&x`:                                                      `u=[REDACTED:email]&x`,
		`first\nbob@example.com`:                                                     `first\n[REDACTED:email]`,
		`card 4111 1111 1111 1111, amex 3782-822463-10005`:                           `card [REDACTED:card], amex [REDACTED:card]`,
		`4111111111111111`:                                                           `[REDACTED:card]`,
		`postgres://bob:p4ss:w@db.test:5432/x?y=1`:                                   `postgres://bob:[REDACTED:password]@db.test:5432/x?y=1`,
		`redis://:hunter2@cache:6379`:                                                `redis://:[REDACTED:password]@cache:6379`,
		`x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl y`:                      `x [REDACTED:jwt] y`,
		"a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb": "a\n[REDACTED:private_key]\nb",
		`-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj`:      `[REDACTED:private_key]`,
	} {
		out, _ := Default().Text(in)
		assert.Equal(t, want, out, "of %s", in)
	}
}

func TestWhatOnlyLooksSecretStays(t *testing.T) {
	for _, in := range []string{
		// Identifiers of traces, calls, messages, commits, images, times.
		"0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		"call_J8kq2mV7n1pQ9rT5sW0uYzAb", "toolu_01A09q90qw90lq917835lq9", "chatcmpl-9J8kq2mV7n1pQ9rT5sW0uYzAb", "msg_01XFDUDYJgAACzvnptvVoYEL",
		"resp_67cb32528d6881909eb2859a55e18a85", "fc_67cb32528d6881909eb2859a55e18a85", "run-1b2c", "thread_abc123", "asst_abc123",
		"2026-08-30T12:00:00.123456789Z", "1756555200000000000", "1756555200000", "1756555200.123456789", "1234567890123456", "4111111111111112",
		"0.4539578763621486", "-0.4111111111111111", "[0.4111111111111111, 0.5500000000000004]", "2024 2025 2026 2027 2028",
		"tape-blob:sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08:70000:application/json",
		"git@github.com:tapedeck/tapedeck.git", "icon@2x.png", "lodash@4.17.21", "@decorator", "a @ b", "x@w.shape", "user@localhost",
		"http://a.test:8080/x@y", "https://a.test/path?x=1#frag", "mailto:", "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
		"matches -----BEGIN PRIVATE KEY----- markers", "eyJhbGciOiJIUzI1NiJ9", "eyJ.eyJ", "task-0123456789abcdef0123456789",
		"AKIA", "hf_hub", "https://user@host/", "postgres://bob:$PASSWORD@db", "postgres://bob:{password}@db",
	} {
		out, hits := Default().Text(in)
		assert.Equal(t, in, out)
		assert.Empty(t, hits)
	}
}

func TestJSONByName(t *testing.T) {
	for in, want := range map[string]string{
		`{"password":"x","a":1}`:                                                  `{"password":"[REDACTED:password]","a":1}`,
		`{ "a" : 1.0e3 , "authToken" :"x" }`:                                      `{ "a" : 1.0e3 , "authToken" :"[REDACTED:token]" }`,
		`{"db.password":{"x":[1,true,null,"s",""]}}`:                              `{"db.password":{"x":[0,false,null,"[REDACTED:password]",""]}}`,
		`{"a":"{\"apiKey\":\"x\"}"}`:                                              `{"a":"{\"apiKey\":\"[REDACTED:api_key]\"}"}`,
		`"{\"a\":\"{\\\"secret\\\":\\\"x\\\"}\"}"`:                                `"{\"a\":\"{\\\"secret\\\":\\\"[REDACTED:secret]\\\"}\"}"`,
		`[{"function":{"arguments":"{\"api_key\":\"x\",\"q\":1}"}}]`:              `[{"function":{"arguments":"{\"api_key\":\"[REDACTED:api_key]\",\"q\":1}"}}]`,
		`{"max_tokens":5,"token_count":1,"tokens":["a"]}`:                         `{"max_tokens":5,"token_count":1,"tokens":["a"]}`,
		`["run","--token","x","--force","--api-key=y","--password",7]`:            `["run","--token","[REDACTED:token]","--force","--api-key=[REDACTED:api_key]","--password",0]`,
		`["\u002d-tok\u0065n","x"]`:                                               `["\u002d-tok\u0065n","[REDACTED:token]"]`,
		`{"p\u0061ssword":"x"}`:                                                   `{"p\u0061ssword":"[REDACTED:password]"}`,
		`[{"name":"Authorization","value":"x"},{"value":"y","name":"Accept"}]`:    `[{"name":"Authorization","value":"[REDACTED:authorization]"},{"value":"y","name":"Accept"}]`,
		`{"value":"x","secret":false,"key":"DB_PASSWORD"}`:                        `{"value":"[REDACTED:password]","secret":false,"key":"DB_PASSWORD"}`,
		`{"bob@example.com":1,"amy@example.com":2}`:                               `{"[REDACTED:email]#2":1,"[REDACTED:email]":2}`,
		`{"n":4111111111111111,"id":4111111111111111,"ids":["4111111111111111"]}`: `{"n":0,"id":4111111111111111,"ids":["4111111111111111"]}`,
		`{"q":"\ud800 bob@example.com \u00e9"}`:                                   `{"q":"\ud800 [REDACTED:email] é"}`,
		"{\"q\":\"\xff bob@example.com\"}":                                        "{\"q\":\"\xff [REDACTED:email]\"}",
		`{"parameters":{"type":"object","properties":{"password":{"type":"string","description":"the password: any","default":"x"}},"required":["password"]}}`: `{"parameters":{"type":"object","properties":{"password":{"type":"string","description":"the password: any","default":"[REDACTED:password]"}},"required":["password"]}}`,
		`{"properties":{"token":"x","secret":{"properties":{"a":{"enum":["x"]}}}}}`:                                                                            `{"properties":{"token":"[REDACTED:token]","secret":{"properties":{"a":{"enum":["[REDACTED:secret]"]}}}}}`,
		`{"token":"…","a":1}`: `{"token":"[REDACTED:token]","a":1}`,
	} {
		out, _ := Default().JSON([]byte(in))
		assert.Equal(t, want, string(out))
	}
}

func TestHitsNameThePlaceAndTheRule(t *testing.T) {
	_, hits := Default().JSON([]byte(`{"a":[{"password":"x"},"bob@example.com"],"s":"{\"h\":{\"cookie\":true}}","bob@example.com":{"t":"b@c.de"}}`))
	assert.ElementsMatch(t, []Hit{
		{"a[0].password", "password"},
		{"a[1]", "email"},
		{"s.h.cookie", "cookie"},
		{"[REDACTED:email]", "email"},
		{"[REDACTED:email].t", "email"},
	}, hits)
	_, hits = Default().Text("mail bob@example.com")
	assert.Equal(t, []Hit{{"", "email"}}, hits)
}

func TestHostileTextCostsNoMoreThanItsLength(t *testing.T) {
	if testing.Short() {
		t.Skip("works through megabytes")
	}
	for _, unit := range []string{
		"password=self.x(", "token=f(", "'token':['", "-----BEGIN PRIVATE KEY-----", "eyJ-", "eyJa.eyJ", "sk-a-", "://a:", "@a.", "%40", "4111 ", "--token ",
		"<token>", `\"token\":\"`, "password=${", "[REDACTED:", "bearer ", "cookie: ", "{\"a\":", "[", `"`, `\\\\\"`,
	} {
		s := strings.Repeat(unit, 1<<16/len(unit))
		start := time.Now()
		out, _ := Default().Text(s)
		again, _ := Default().Text(out)
		assert.True(t, out == again, "idempotent on repeated %s", unit)
		// Milliseconds if linear, far longer if not.
		assert.Less(t, time.Since(start), 5*time.Second, "on repeated %s", unit)
	}
}
