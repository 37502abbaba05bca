package redact

import "strings"

const (
	typeCookie = "cookie"
	typeSecret = "secret"
	// typeDir is that of pwd, which is a password or a working directory.
	typeDir = "pwd"
)

// keyRule says which names are secret, beside names that are and are not.
type keyRule struct {
	typ string
	// strong phrases stay secret when words follow that nobody knows:
	// api_key_frankfurt.
	strong []string
	// weak phrases are secret at the end of a name only.
	weak     []string
	pos, neg []string
}

var keyRules = []keyRule{
	{
		typ:    "password",
		strong: []string{"password+", "passwd+", "passphrase+", "pass phrase", "passcode", "pass word"},
		weak: []string{
			"passwords+", "passwds", "db pass", "user pass", "smtp pass", "ftp pass", "ssh pass", "mail pass",
			"mysql pass", "pg pass", "redis pass", "admin pass", "root pass", "proxy pass", "auth pass", "dbpass", "pgpass",
			"mysql pwd", "db pwd", "user pwd", "dbpwd", "userpwd", "otp", "totp", "one time code", "mfa code",
		},
		pos: []string{
			"password", "PASSWORD", "db.password", "dbPassword", "db_password", "db-password", "DB_PASSWORD", "userpassword",
			"new_password", "passwordConfirmation", "password2", "passwd", "passphrase", "sshPassphrase", "smtp_pass",
			"spring.datasource.password", "password[0]", "MYSQL_PWD", "password_prod", "params[password]", "passwordHash", "otp",
		},
		neg: []string{
			"password_policy", "passwordLength", "has_password", "forgot_password_url", "password_required", "pass", "passed",
			"passenger", "compass", "bypass", "password_expires_at", "passport", "reset_password_link", "passwordless", "passes",
		},
	},
	{
		typ:  typeDir,
		weak: []string{"pwd"},
		pos:  []string{"pwd", "PWD", "user.pwd"},
		neg:  []string{"pwd_count", "cpwd"},
	},
	{
		typ: "api_key",
		strong: []string{
			"api key+", "api secret+", "x api key", "subscription key", "openai key", "anthropic key", "gemini key", "azure key",
			"github key", "stripe key", "twilio key", "sendgrid key", "datadog key", "dd app key", "google key",
			"mistral key", "groq key", "cohere key", "huggingface key", "functions key", "license key",
		},
		weak: []string{"api keys+", "apikeyv 2"},
		pos: []string{
			"api_key", "apiKey", "apikey", "API-Key", "X-API-Key", "x-goog-api-key", "_auth_prefix_vaf_X-API-Key", "OPENAI_API_KEY",
			"openai.api_key", "API_KEY_PROD", "serviceApiKey", "Ocp-Apim-Subscription-Key", "ANTHROPIC_KEY", "api_keys", "myapikey", "APIKey",
		},
		neg: []string{"api_key_id", "api_key_name", "apiKeyRequired", "key", "keyboard", "primary_key", "cache_key", "idempotency_key", "public_key", "has_api_key", "tape.key"},
	},
	{
		typ:    "authorization",
		strong: []string{"proxy authorization", "auth header", "authentication header", "authorization code", "authorization header"},
		weak:   []string{"authorization", "basic auth", "http auth", "proxy auth", "x auth", "=auth"},
		pos: []string{
			"authorization", "Authorization", "Proxy-Authorization", "http.request.header.authorization", "authorizationHeader",
			"authorization_code", "basic_auth", "headers.authorization.0", "auth", "X-Auth",
		},
		neg: []string{"authorization_url", "authorization_endpoint", "authorization_status", "author", "auth_type", "auth_method", "authored_by", "oauth_scopes", "user.auth", "authority", "authorization.decision"},
	},
	{
		typ:    typeCookie,
		strong: []string{"set cookie", "session cookie", "cookie header"},
		weak:   []string{"cookie", "cookies", "phpsessid", "jsessionid", "connect sid"},
		pos:    []string{"cookie", "Cookie", "set-cookie", "Set-Cookie2", "http.request.header.cookie", "sessionCookie", "cookies", "cookies.sid", "JSESSIONID"},
		neg:    []string{"cookie_consent", "cookieName", "cookie_count", "cookiecutter", "cookie_policy_url", "has_cookies", "cookie_domain", "cookies_enabled"},
	},
	{
		typ: "token",
		strong: []string{
			"access token+", "auth token+", "refresh token+", "bearer token+", "session token+", "csrf token+", "xsrf token+",
			"api token+", "user token+", "bot token+", "app token+", "client token+", "security token+", "personal access token",
			"service token", "oauth token+", "jwt token", "deploy token", "webhook token", "github token", "gitlab token",
			"slack token", "hf token", "npm token", "pypi token", "vault token", "device token", "push token", "magic token",
			"reset token", "verification token", "registration token", "join token", "sas token",
		},
		weak: []string{
			"token", "id token+", "access tokens", "auth tokens", "refresh tokens", "bearer tokens", "session tokens", "api tokens",
			"jwt", "bearer", "x amz signature", "csrfmiddlewaretoken", "shared access signature",
		},
		pos: []string{
			"token", "TOKEN", "authToken", "access_token", "accesstoken", "refresh-token", "sessionToken", "session.token", "x-auth-token",
			"id_token", "csrfToken", "X-CSRF-Token", "csrfmiddlewaretoken", "GITHUB_TOKEN", "X-Amz-Security-Token", "X-Vault-Token",
			"slack_bot_token", "access_token_v2", "token_value", "tokens.token", "jwt", "bearer", "bearerToken", "access_tokens", "HF_TOKEN",
		},
		neg: []string{
			"max_tokens", "maxTokens", "token_count", "tokenCount", "gen_ai.usage.input_tokens", "llm.token_count.prompt", "tokenizer",
			"token_type", "gen_ai.token.type", "tokens", "input_tokens", "next_page_token", "nextPageToken", "pageToken", "continuation_token",
			"NextToken", "sync_token", "progressToken", "eos_token", "pad_token_id", "bos_token", "time_to_first_token", "cost_per_token",
			"token_endpoint", "tokenUrl", "token_uri", "token_limit", "token_usage", "token_budget", "access_token_expires_in",
			"first_token_ms", "max_token", "total_token", "tokenization", "token_ids", "last_token", "stop_token", "special_token", "prompt_token",
			"completion_token", "cancellation_token", "token_index", "token_length", "ms_to_first_token", "new_token", "tokenized", "cursor",
		},
	},
	{
		typ: typeSecret,
		strong: []string{
			"secret key+", "client secret+", "app secret+", "consumer secret", "shared secret", "webhook secret", "signing secret",
			"secret access key", "signing key", "encryption key", "master key", "hmac key", "session key", "shared key", "account key",
			"storage key", "jwt key", "auth key+", "service key", "deploy key", "host key", "secret text", "secret string",
		},
		weak: []string{"secret", "secrets", "clientsecret", "appsecret", "connection string", "cvv", "cvc", "cvv 2", "ssn", "social security number"},
		pos: []string{
			"secret", "client_secret", "clientSecret", "CLIENT-SECRET", "app.secret", "SECRET_KEY", "SECRET_KEY_BASE", "aws_secret_access_key",
			"secretKey", "webhookSecret", "secrets", "secret_value", "SecretString", "AccountKey", "signing_key", "connectionString", "cvv", "ssn",
		},
		neg: []string{"secretary", "secret_name", "secret_arn", "is_secret", "secret_id", "secretly", "secret_count", "session_key_id", "secret_version", "host_key_checking", "secret_type"},
	},
	{
		typ:  "credential",
		weak: []string{"credential", "credentials", "creds", "cred", "x amz credential", "user credentials"},
		pos:  []string{"credential", "credentials", "aws_credentials", "userCredentials", "creds", "X-Amz-Credential", "credentials.username"},
		neg:  []string{"credential_type", "credentials_url", "credential_id", "credits", "credentialed", "has_credentials", "credentials_path", "accredited"},
	},
	{
		typ:    "private_key",
		strong: []string{"private key+", "ssh key", "ssh private", "pem key", "tls key", "ssl key", "pgp key", "gpg key", "private pem", "client key"},
		pos:    []string{"private_key", "privateKey", "PRIVATE-KEY", "privatekey", "ssh_key", "service_account.private_key", "private_key_pem", "client-key-data"},
		neg:    []string{"private_key_id", "private_key_path", "privateKeyFile", "public_key", "private", "ssh_key_name", "private_key_fingerprint", "client_key_path"},
	},
	{
		typ:    "access_key",
		strong: []string{"access key+"},
		weak:   []string{"access keys"},
		pos:    []string{"access_key", "accessKey", "AWS_ACCESS_KEY", "accesskey", "access-key", "accessKeys"},
		neg:    []string{"access_key_id", "accessKeyId", "AWS_ACCESS_KEY_ID", "access_key_count", "access"},
	},
	{
		typ:  typePhone,
		weak: []string{"phone", "phone number", "phone numbers", "telephone", "telephone number", "mobile number", "cell number", "fax number", "msisdn"},
		pos:  []string{"phone", "phoneNumber", "customer.phone_number", "msisdn"},
		neg:  []string{"phone_type", "phoneme", "has_phone", "phone_model", "headphone"},
	},
	{
		typ:  typeIBAN,
		weak: []string{"iban", "iban number"},
		pos:  []string{"iban", "debtorIban", "IBAN"},
		neg:  []string{"iban_count", "urbane", "iban_valid"},
	},
}

// beforeWords turn the phrase after them into something else.
const beforeWords = `
	is has have had use uses using show hide require requires required need needs allow allows allowed enable enables
	enabled disable disables disabled forgot without missing invalid expired no not num count total`

// beforeTokenWords do so for the word token alone: tokens of models, of pages,
// of cancellation.
const beforeTokenWords = `
	next page continuation pagination sync progress resume cursor max min avg per first last stop eos bos pad unk sep
	cls mask special prompt completion input output cached reasoning thinking audio text image new cancel cancellation
	sub subword`

// afterWords turn the phrase before them into something else.
const afterWords = `
	count counts counter type types kind limit limits length len size min max budget usage used total totals ratio rate
	cost price url urls uri uris endpoint link path file files filename dir location arn name names label title hint
	help description prompt message error errors status state valid validity invalid strength score policy policies rule
	rules required optional enabled disabled allowed expiry expires expiration expired ttl lifetime age date time at
	created updated changed rotated issued last used version format algorithm alg encoding scheme method mode
	provider issuer audience scope scopes owner id ids uuid index idx position offset field fields column placeholder
	fingerprint rotation manager management store reset request response form input output limiter consent domain
	banner notice checking check decision result outcome granted denied ms seconds sec secs minutes in per detail details`

// sameWords leave the phrase before them what it is.
const sameWords = `
	value values raw plain plaintext string str text data content hash hashed digest encrypted encoded base64 b64 hex
	old new current previous confirm confirmation confirmed again repeat repeated verify default prod production dev
	development staging stage test live local primary secondary main backup header headers body v env var`

func builtinKeys() keyTables {
	t := keyTables{
		Phrases:     map[string][]string{},
		Before:      strings.Fields(beforeWords),
		BeforeToken: strings.Fields(beforeTokenWords),
		After:       strings.Fields(afterWords),
		Same:        strings.Fields(sameWords),
	}
	for _, r := range keyRules {
		for _, p := range r.strong {
			t.Phrases[r.typ] = append(t.Phrases[r.typ], p+"!")
		}
		t.Phrases[r.typ] = append(t.Phrases[r.typ], r.weak...)
	}
	return t
}
