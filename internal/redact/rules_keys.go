package redact

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
