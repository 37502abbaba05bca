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
	for _, group := range [][]builtinRule{cloudRules, modelRules, codeRules, messagingRules, paymentRules, headerRules} {
		all = append(all, group...)
	}
	return all
}

// formTypes are the types of the forms without keywords.
var formTypes = []string{typeEmail, typeCard, typeJWT, typePrivateKey, typePassword}

// end keeps a key of fixed length from being the begin of something longer.
const end = `(?:[^A-Za-z0-9_+/-]|$)`

var cloudRules = []builtinRule{
	{
		Rule: rule("aws_access_key", `((?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16})`+end, "", "AKIA", "ASIA", "ABIA", "ACCA"),
		pos:  []string{"AKIA·IOSFODNN7EXAMPLE", "key=ASIA·Y34FZKBOKMUTVV7A;", `\nAKIA·IOSFODNN7EXAMPLE`},
		neg:  []string{"AKIA", "AKIA·IOSFODNN7", "SAKIA·IOSFODNN7EXAMPLE", "AKIA·IOSFODNN7EXAMPLELONG"},
	},
	{
		Rule: rule("aws_bedrock_key", `(ABSK[A-Za-z0-9+/]{100,}={0,2})`, "", "ABSK"),
		pos:  []string{"ABSK·QmVkcm9ja0FQSUtleS1hYmNkLWF0LTEyMzQ1Njc4OTAxMjphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ekFCQ0RFRkdISUpLTE1OT1A9"},
		neg:  []string{"ABSK", "ABSK·short"},
	},
	{
		Rule: rule("google_api_key", `(AIza[A-Za-z0-9_-]{35})`+end, "", "AIza"),
		pos:  []string{"AIza·SyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe", "?key=AIza·SyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe&x=1"},
		neg:  []string{"AIza", "AIza·SyDaGmWKa4JsXZ"},
	},
	{
		Rule: rule("google_oauth_token", `(ya29\.[A-Za-z0-9_-]{20,})`, "", "ya29."),
		pos:  []string{"ya29.·a0AfH6SMBx3J8kq2mV7n1pQ9rT5sW0uYzAbCdEf"},
		neg:  []string{"ya29.", "ya29.short"},
	},
	{
		Rule: rule("google_client_secret", `(GOCSPX-[A-Za-z0-9_-]{28})`+end, "", "GOCSPX-"),
		pos:  []string{"GOCSPX·-mJ8kq2mV7n1pQ9rT5sW0uYzAbCdE"},
		neg:  []string{"GOCSPX-", "GOCSPX-short"},
	},
	{
		Rule: rule("google_refresh_token", `(1//0[A-Za-z0-9_-]{40,})`, "mixed", "1//0"),
		pos:  []string{"1//0·gJ8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWx"},
		neg:  []string{"1//0", "http://a/1//0/index.html"},
	},
	{
		Rule: rule("azure_storage_key", `(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{43,86}={1,2})`, "", "AccountKey=", "SharedAccessKey="),
		pos:  []string{"AccountName=x;AccountKey=·MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMQ==;"},
		neg:  []string{"AccountKey=", "AccountKey=$KEY"},
	},
	{
		Rule: rule("azure_sas", `sig=([A-Za-z0-9%+/]{32,}(?:%3[Dd]|=)?)`, "mixed", "sig="),
		pos:  []string{"https://x.blob.core.windows.net/c/b?sv=2022-11-02&sig=·Z3J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQr4%3D"},
		neg:  []string{"sig=", "sig=0", "config=abcdefghijklmnopqrstuvwxyz0123456789abc"},
	},
	{
		Rule: Rule{Type: "azure_client_secret", Keywords: []string{"8Q~"}, Expression: `(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.-]{31,34})` + end},
		pos:  []string{"J8k·8Q~2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOp"},
		neg:  []string{"8Q~", "J8k8Q~2mV7n1pQ9rT5"},
	},
	{
		Rule: rule("digitalocean_token", `(do[opr]_v1_[a-f0-9]{64})`+end, "", "dop_v1_", "doo_v1_", "dor_v1_"),
		pos:  []string{"dop_v1_·0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
		neg:  []string{"dop_v1_", "dop_v1_xyz"},
	},
	{
		Rule: rule("alibaba_access_key", `(LTAI[A-Za-z0-9]{12,20})`+end, "mixed", "LTAI"),
		pos:  []string{"LTAI·5tQ9rT5sW0uYzAbCdEfG"},
		neg:  []string{"LTAI", "VOLTAIRE", "LTAIR"},
	},
	{
		Rule: rule("vault_token", `(hv[sbr]\.[A-Za-z0-9_-]{24,})`, "", "hvs.", "hvb.", "hvr."),
		pos:  []string{"hvs.·CAESIJ8kq2mV7n1pQ9rT5sW0uYzAbCdEf"},
		neg:  []string{"hvs.", "hvs.io/path"},
	},
	{
		Rule: rule("databricks_token", `(dapi[a-f0-9]{32}(?:-[0-9])?)`+end, "", "dapi"),
		pos:  []string{"dapi·0123456789abcdef0123456789abcdef"},
		neg:  []string{"dapi", "dapip", "dapi0123"},
	},
	{
		Rule: rule("grafana_token", `(gl(?:sa|c)_[A-Za-z0-9+/_=]{32,})`, "", "glsa_", "glc_"),
		pos:  []string{"glsa_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIj_0a1b2c3d"},
		neg:  []string{"glsa_", "glc_context"},
	},
	{
		Rule: rule("newrelic_key", `(NRAK-[A-Z0-9]{27})`+end, "", "NRAK-"),
		pos:  []string{"NRAK·-0123456789ABCDEFGHIJKLMNOPQ"},
		neg:  []string{"NRAK-", "NRAK-short"},
	},
	{
		Rule: rule("pulumi_token", `(pul-[a-f0-9]{40})`+end, "", "pul-"),
		pos:  []string{"pul·-0123456789abcdef0123456789abcdef01234567"},
		neg:  []string{"pul-", "pul-monary"},
	},
	{
		Rule: rule("age_key", `(AGE-SECRET-KEY-1[0-9A-Z]{58})`+end, "", "AGE-SECRET-KEY-1"),
		pos:  []string{"AGE-SECRET-KEY-1·QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE"},
		neg:  []string{"AGE-SECRET-KEY-1"},
	},
}

var modelRules = []builtinRule{
	{
		Rule: rule("anthropic_key", `(sk-ant-[A-Za-z0-9_-]{20,})`, "", "sk-ant-"),
		pos:  []string{"sk-ant-·api03-J8kq2mV7n1pQ9rT5sW0uYzAbCdEf-GhIjKlMnAA"},
		neg:  []string{"sk-ant-", "sk-ant-hill"},
	},
	{
		Rule: rule("openai_key", `(sk-(?:proj|svcacct|admin|None|or-v1|lf)-[A-Za-z0-9_-]{20,})`, "", "sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-", "sk-or-v1-", "sk-lf-"),
		pos:  []string{"sk-proj-·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIj", "sk-or-v1-·0123456789abcdef0123456789abcdef", "sk-lf-·01234567-89ab-cdef-0123-456789abcdef"},
		neg:  []string{"sk-proj-", "task-proj-J8kq2mV7n1pQ9rT5sW0uYzAbCdEf", "sk-proj-short"},
	},
	{
		Rule: rule("openai_key", `(sk-[A-Za-z0-9]{20,})`, "mixed", "sk-"),
		pos:  []string{"sk-·J8kq2mV7n1pQ9rT5sW0uT3BlbkFJYzAbCdEfGhIjKlMn", "OPENAI sk-·0123456789abcdef0123456789abcdef"},
		neg:  []string{"sk-", "sk-learn", "disk-0123456789abcdef0123456789abcdef", "sk-aaaaaaaaaaaaaaaaaaaaaaaaa"},
	},
	{
		Rule: rule("huggingface_token", `((?:hf_|api_org_)[A-Za-z]{34,})`+end, "", "hf_", "api_org_"),
		pos:  []string{"hf_·JkqmVnpQrTsWuYzAbCdEfGhIjKlMnOpQrS"},
		neg:  []string{"hf_", "hf_hub_download", "hf_transformers_model_name_or_path_that_is_long"},
	},
	{
		Rule: rule("groq_key", `(gsk_[A-Za-z0-9]{40,})`, "mixed", "gsk_"),
		pos:  []string{"gsk_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz01"},
		neg:  []string{"gsk_", "gsk_renderer"},
	},
	{
		Rule: rule("replicate_token", `(r8_[A-Za-z0-9]{37,40})`+end, "mixed", "r8_"),
		pos:  []string{"r8_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnO"},
		neg:  []string{"r8_", "r8_unorm"},
	},
	{
		Rule: rule("perplexity_key", `(pplx-[A-Za-z0-9]{40,})`, "mixed", "pplx-"),
		pos:  []string{"pplx·-J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz"},
		neg:  []string{"pplx-", "pplx-70b-online"},
	},
	{
		Rule: rule("xai_key", `(xai-[A-Za-z0-9]{60,})`, "mixed", "xai-"),
		pos:  []string{"xai·-J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdef"},
		neg:  []string{"xai-", "xai-org"},
	},
	{
		Rule: rule("tavily_key", `(tvly-[A-Za-z0-9-]{24,})`, "mixed", "tvly-"),
		pos:  []string{"tvly·-dev-J8kq2mV7n1pQ9rT5sW0uYzAbCdEf"},
		neg:  []string{"tvly-", "tvly-search"},
	},
	{
		Rule: rule("langsmith_key", `(lsv2_[ps][tk]_[a-f0-9]{32}_[a-f0-9]{10})`+end, "", "lsv2_"),
		pos:  []string{"lsv2_·pt_0123456789abcdef0123456789abcdef_0123456789"},
		neg:  []string{"lsv2_", "lsv2_pt_x"},
	},
	{
		Rule: rule("fireworks_key", `(fw_[A-Za-z0-9]{22,})`+end, "mixed", "fw_"),
		pos:  []string{"fw_·3ZJ8kq2mV7n1pQ9rT5sW0uYz"},
		neg:  []string{"fw_", "fw_update_version_string_long"},
	},
	{
		Rule: rule("pinecone_key", `(pcsk_[A-Za-z0-9_]{50,})`, "", "pcsk_"),
		pos:  []string{"pcsk_·3ZJ8k_q2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0"},
		neg:  []string{"pcsk_", "pcsk_index"},
	},
	{
		Rule: rule("nvidia_key", `(nvapi-[A-Za-z0-9_-]{60,})`, "", "nvapi-"),
		pos:  []string{"nvapi·-J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdef"},
		neg:  []string{"nvapi-", "nvapi-docs"},
	},
}

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
