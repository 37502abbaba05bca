package llm

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// Recorded is the recorded failure of a model call, with the status that it had,
// as far as the tape tells: by its code, by what its message says of it, or by the
// name of its type. known is unset where the tape tells no status; 500 is served
// then.
func Recorded(e *tape.Error) (f *Failure, known bool) {
	f = &Failure{Message: e.Message, Code: e.Code}
	if f.Message == "" {
		f.Message = strings.TrimSpace(e.Code + " " + e.Type)
	}
	f.Status = statusOf(e)
	known = f.Status != 0
	if !known {
		f.Status = http.StatusInternalServerError
	}
	if _, err := strconv.Atoi(f.Code); err == nil {
		// The status is no code beside itself.
		f.Code = ""
	}
	if body := bodyIn(e.Message); !body.IsNull() {
		f.Body = body
	}
	if strings.HasSuffix(e.Type, "_error") {
		// The provider's own name for it.
		f.Type = e.Type
	}
	return f, known
}

// inMessage is how the SDKs say the status, and perhaps the body, in a message:
// "Error code: 429 - {'error': …}", "429 {"type":"error",…}", "404 NOT_FOUND. {…}".
var inMessage = regexp.MustCompile(`^(?:Error code: |HTTP |status_code: )?([45]\d\d)\b`)

func statusOf(e *tape.Error) int {
	for _, text := range []string{e.Code, e.Message} {
		if m := inMessage.FindStringSubmatch(text); m != nil {
			status, _ := strconv.Atoi(m[1])
			return status
		}
	}
	for _, text := range []string{e.Type, e.Code} {
		name := strings.ToLower(separators.Replace(text[strings.LastIndexAny(text, ".:")+1:]))
		if status, ok := named[strings.TrimSuffix(strings.TrimSuffix(name, "error"), "exception")]; ok {
			return status
		}
	}
	return 0
}

// named are the statuses of the errors of the SDKs and APIs, without their ending.
var named = map[string]int{
	"badrequest": 400, "invalidrequest": 400, "invalidargument": 400, "contextlengthexceeded": 400, "contentfilter": 400,
	"authentication": 401, "invalidapikey": 401, "unauthenticated": 401, "unauthorized": 401,
	"permissiondenied": 403, "permission": 403, "forbidden": 403,
	"notfound": 404, "modelnotfound": 404, "conflict": 409, "requesttoolarge": 413, "unprocessableentity": 422,
	"ratelimit": 429, "ratelimitexceeded": 429, "resourceexhausted": 429, "toomanyrequests": 429, "insufficientquota": 429, "quotaexceeded": 429,
	"internalserver": 500, "server": 500, "api": 500, "internal": 500, "badgateway": 502,
	"serviceunavailable": 503, "unavailable": 503, "apiconnection": 503,
	"timeout": 504, "apitimeout": 504, "deadlineexceeded": 504, "overloaded": 529,
}

// bodyIn finds the body of an answer in the message of an error, as JSON or as
// Python writes it; null if there is none.
func bodyIn(text string) value.Value {
	start := strings.IndexByte(text, '{')
	if start < 0 {
		return value.Value{}
	}
	text = strings.TrimSpace(text[start:])
	v, err := value.Parse(text)
	if err != nil {
		if v, err = value.ParsePython(text); err != nil {
			return value.Value{}
		}
	}
	if !v.Has("error") && v.At("type").Str() != "error" {
		return value.Value{}
	}
	return v
}
