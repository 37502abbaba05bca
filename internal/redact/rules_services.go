package redact

var codeRules = []builtinRule{
	{
		Rule: rule("github_token", `(gh[pousr]_[A-Za-z0-9]{36,})`, "", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
		pos:  []string{"ghp_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMn", "https://x-access-token:ghs_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMn@github.com/a/b"},
		neg:  []string{"ghp_", "ghp_short", "xghp_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMn"},
	},
	{
		Rule: rule("github_token", `(github_pat_[A-Za-z0-9_]{50,})`, "", "github_pat_"),
		pos:  []string{"github_pat_·11ABCDEFG0J8kq2mV7n1pQ_9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz"},
		neg:  []string{"github_pat_", "github_pat_name"},
	},
	{
		Rule: rule("gitlab_token", `(gl(?:pat|ptt|rt|dt|ft|soat|cbt|agent|imt|oas|ffct)-[A-Za-z0-9_.-]{20,})`, "",
			"glpat-", "glptt-", "glrt-", "gldt-", "glft-", "glsoat-", "glcbt-", "glagent-", "glimt-", "gloas-", "glffct-"),
		pos: []string{"glpat·-J8kq2mV7n1pQ9rT5sW0u", "glrt·-J8kq2mV7n1pQ9rT5sW0u"},
		neg: []string{"glpat-", "glpat-short"},
	},
	{
		Rule: rule("npm_token", `(npm_[A-Za-z0-9]{36})`+end, "", "npm_"),
		pos:  []string{"npm_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMn"},
		neg:  []string{"npm_", "npm_config_registry", "npm_lifecycle_event"},
	},
	{
		Rule: rule("pypi_token", `(pypi-[A-Za-z0-9_-]{50,})`, "", "pypi-"),
		pos:  []string{"pypi·-AgEIcHlwaS5vcmcCJGJ8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrS"},
		neg:  []string{"pypi-", "pypi-server"},
	},
	{
		Rule: rule("rubygems_key", `(rubygems_[a-f0-9]{48})`+end, "", "rubygems_"),
		pos:  []string{"rubygems_·0123456789abcdef0123456789abcdef0123456789abcdef"},
		neg:  []string{"rubygems_", "rubygems_version"},
	},
	{
		Rule: rule("docker_token", `(dckr_(?:pat|oat)_[A-Za-z0-9_-]{27,})`, "", "dckr_pat_", "dckr_oat_"),
		pos:  []string{"dckr_pat_·J8kq2mV7n1pQ9rT5sW0uYzAbCdE"},
		neg:  []string{"dckr_pat_", "dckr_pat_x"},
	},
	{
		Rule: rule("linear_key", `(lin_(?:api|oauth)_[A-Za-z0-9]{40,})`, "", "lin_api_", "lin_oauth_"),
		pos:  []string{"lin_api_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQr"},
		neg:  []string{"lin_api_", "lin_api_key"},
	},
	{
		Rule: rule("notion_token", `((?:secret_|ntn_)[A-Za-z0-9]{40,})`, "mixed", "secret_", "ntn_"),
		pos:  []string{"secret_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStU", "ntn_·0123456789J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKl"},
		neg:  []string{"secret_", "secret_name", "ntn_"},
	},
	{
		Rule: rule("atlassian_token", `(AT(?:BB|CTT3x|ATT3x)[A-Za-z0-9=_-]{20,})`, "mixed", "ATBB", "ATCTT3x", "ATATT3x"),
		pos:  []string{"ATBB·J8kq2mV7n1pQ9rT5sW0uYzAbCdEf0123", "ATATT3x·FfGF0J8kq2mV7n1pQ9rT5sW0uYzAbCdEf"},
		neg:  []string{"ATBB", "COMBATBB"},
	},
	{
		Rule: rule("sentry_token", `(sntry[su]_[A-Za-z0-9+/=_-]{40,})`, "", "sntrys_", "sntryu_"),
		pos:  []string{"sntryu_·0123456789abcdef0123456789abcdef0123456789abcdef"},
		neg:  []string{"sntryu_", "sntrys_x"},
	},
	{
		Rule: rule("postman_key", `(PMAK-[a-f0-9]{24}-[a-f0-9]{34})`+end, "", "PMAK-"),
		pos:  []string{"PMAK·-0123456789abcdef01234567-0123456789abcdef0123456789abcdef01"},
		neg:  []string{"PMAK-", "PMAK-x"},
	},
}

var messagingRules = []builtinRule{
	{
		Rule: rule("slack_token", `(xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,})`, "mixed", "xoxa", "xoxb", "xoxe", "xoxo", "xoxp", "xoxr", "xoxs"),
		pos:  []string{"xoxb·-123456789012-1234567890123-J8kq2mV7n1pQ9rT5sW0uYzAb", "xoxp·-1234567890-abcdef1234"},
		neg:  []string{"xoxb", "xoxb-", "xoxo hugs"},
	},
	{
		Rule: rule("slack_token", `(xapp-[0-9]-[A-Za-z0-9]+-[0-9]+-[a-f0-9]{32,})`, "", "xapp-"),
		pos:  []string{"xapp·-1-A0123456789-1234567890123-0123456789abcdef0123456789abcdef"},
		neg:  []string{"xapp-", "xapp-1"},
	},
	{
		Rule: rule("slack_webhook", `hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})`, "", "hooks.slack.com/"),
		pos:  []string{"https://hooks.slack.com/services/·T01234567/B01234567/J8kq2mV7n1pQ9rT5sW0uYzAb"},
		neg:  []string{"https://hooks.slack.com/", "https://hooks.slack.com/services"},
	},
	{
		Rule: rule("discord_webhook", `discord(?:app)?\.com/api/webhooks/([0-9]{17,20}/[A-Za-z0-9_-]{60,})`, "", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
		pos:  []string{"https://discord.com/api/webhooks/·123456789012345678/J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdef"},
		neg:  []string{"https://discord.com/api/webhooks/", "https://discord.com/api/webhooks/123"},
	},
	{
		Rule: rule("twilio_key", `(SK[a-f0-9]{32})`+end, "mixed",
			"SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf"),
		pos: []string{"SK·0123456789abcdef0123456789abcdef"},
		neg: []string{"SK0", "SKU-0123456789abcdef0123456789abcdef", "TASK0123456789abcdef0123456789abcdef"},
	},
	{
		Rule: rule("sendgrid_key", `(SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50})`+end, "", "SG."),
		pos:  []string{"SG.·J8kq2mV7n1pQ9rT5sW0uYz.J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStU"},
		neg:  []string{"SG.", "MSG.", "SG.singapore.region"},
	},
	{
		Rule: rule("mailgun_key", `(key-[a-f0-9]{32})`+end, "", "key-"),
		pos:  []string{"key·-0123456789abcdef0123456789abcdef"},
		neg:  []string{"key-", "key-value", "monkey-0123456789abcdef0123456789abcdef"},
	},
	{
		Rule: rule("brevo_key", `(xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16})`+end, "", "xkeysib-"),
		pos:  []string{"xkeysib·-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef-J8kq2mV7n1pQ9rT5"},
		neg:  []string{"xkeysib-", "xkeysib-x"},
	},
}

var paymentRules = []builtinRule{
	{
		Rule: rule("stripe_key", `((?:sk|rk|pk)_(?:live|test|prod)_[A-Za-z0-9]{10,})`, "", "sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "pk_live_"),
		pos:  []string{"sk_live·_J8kq2mV7n1pQ9rT5sW0uYzAb", "rk_test·_J8kq2mV7n1pQ9rT5"},
		neg:  []string{"sk_live_", "risk_live_J8kq2mV7n1pQ", "sk_test_x"},
	},
	{
		Rule: rule("stripe_webhook_secret", `(whsec_[A-Za-z0-9+/=]{24,})`, "", "whsec_"),
		pos:  []string{"whsec·_J8kq2mV7n1pQ9rT5sW0uYzAbCdEf"},
		neg:  []string{"whsec_", "whsec_x"},
	},
	{
		Rule: rule("square_token", `(sq0[a-z]{3}-[A-Za-z0-9_-]{22,60})`+end, "mixed", "sq0atp-", "sq0csp-", "sq0idp-"),
		pos:  []string{"sq0atp·-J8kq2mV7n1pQ9rT5sW0uYz"},
		neg:  []string{"sq0atp-", "sq0atp-x"},
	},
	{
		Rule: rule("shopify_token", `(shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32})`+end, "", "shpat_", "shpca_", "shppa_", "shpss_"),
		pos:  []string{"shpat_·0123456789abcdef0123456789abcdef"},
		neg:  []string{"shpat_", "shpat_x"},
	},
	{
		Rule: rule("braintree_token", `(access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[a-f0-9]{32})`+end, "", "access_token$"),
		pos:  []string{"access_token$·production$0123456789abcdef$0123456789abcdef0123456789abcdef"},
		neg:  []string{"access_token$", "access_token$sandbox"},
	},
}

var headerRules = []builtinRule{
	{
		Rule: rule("bearer", `[Bb][Ee][Aa][Rr][Ee][Rr](?:[ \t]+|%20)([A-Za-z0-9._~+/=-]{16,})`, "mixed", "Bearer", "bearer", "BEARER"),
		pos:  []string{"curl -H 'X: Bearer ·J8kq2mV7n1pQ9rT5sW0u'", "bearer ·0123456789abcdef0123456789abcdef"},
		neg:  []string{"Bearer", "bearer token authentication", "Bearer authentication-scheme", "Bearer $TOKEN"},
	},
	{
		Rule: rule("basic", `[Bb][Aa][Ss][Ii][Cc][ \t]+([A-Za-z0-9+/]{8,}={0,2})`, "basic", "Basic", "basic", "BASIC"),
		pos:  []string{"Basic ·dXNlcjpwYXNzd29yZA=="},
		neg:  []string{"Basic", "basic understanding", "Basic authentication", "basic programming"},
	},
	{
		Rule: rule(typePassword, `(?:-u|--user) ["']?[A-Za-z0-9._@+-]{1,64}:([^\s"':/]{3,128})`, "word", "-u ", "--user "),
		pos:  []string{"curl -u bob:hunter2 https://x.test", `curl --user "bob:hunter2" x`},
		neg:  []string{"docker run -u 1000:1000 x", "sort -u names", "curl -u bob:$PASSWORD x", "git push -u origin main"},
	},
}
