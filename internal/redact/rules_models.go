package redact

var modelRules = []builtinRule{
	{
		Rule: rule("anthropic_key", `(sk-ant-[A-Za-z0-9_-]{20,})`, "", "sk-ant-"),
		pos:  []string{"sk-ant-·api03-J8kq2mV7n1pQ9rT5sW0uYzAbCdEf-GhIjKlMnAA"},
		neg:  []string{"sk-ant-", "sk-ant-hill"},
	},
	{
		Rule: rule("openai_key", `(sk-(?:proj|svcacct|service|admin|None)-[A-Za-z0-9_-]{20,})`, "", "sk-proj-", "sk-svcacct-", "sk-service-", "sk-admin-", "sk-None-"),
		pos:  []string{"sk-proj-·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIj", "sk-svcacct-·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIj"},
		neg:  []string{"sk-proj-", "task-proj-J8kq2mV7n1pQ9rT5sW0uYzAbCdEf", "sk-proj-short"},
	},
	{
		Rule: rule("openrouter_key", `(sk-or-(?:v[0-9]-)?[A-Za-z0-9_-]{32,})`, "", "sk-or-"),
		pos:  []string{"sk-or-v1-·0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
		neg:  []string{"sk-or-", "sk-or-v1-x"},
	},
	{
		Rule: rule("langfuse_key", `(sk-lf-[A-Za-z0-9-]{32,})`, "", "sk-lf-"),
		pos:  []string{"sk-lf-·01234567-89ab-cdef-0123-456789abcdef"},
		neg:  []string{"sk-lf-", "sk-lf-x"},
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
	{
		Rule: rule("openai_key", `(sk-[A-Za-z0-9_-]{20,})`, "random", "sk-"),
		pos:  []string{"sk-·J8kq2m_7n1pQ9-T5sW0uYz"},
		neg:  []string{"sk-learn-contrib-estimators", "sk-hyphenated-Name-of-a-Package-2"},
	},
	{
		Rule: rule("helicone_key", `((?:sk|pk)-helicone-[a-z0-9-]{20,})`, "mixed", "sk-helicone-", "pk-helicone-"),
		pos:  []string{"sk-helicone-·j8kq2mv-7n1pq9r-t5sw0uy-zabcdef"},
		neg:  []string{"sk-helicone-", "sk-helicone-proxy"},
	},
	{
		Rule: rule("together_key", `(tgp_v1_[A-Za-z0-9_-]{40,})`, "", "tgp_v1_"),
		pos:  []string{"tgp_v1_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStU"},
		neg:  []string{"tgp_v1_", "tgp_v1_x"},
	},
	{
		Rule: rule("cerebras_key", `(csk-[a-z0-9]{40,})`, "mixed", "csk-"),
		pos:  []string{"csk-·j8kq2mv7n1pq9rt5sw0uyzabcdefghijklmnopqrstuvwxyz"},
		neg:  []string{"csk-", "csk-tool"},
	},
	{
		Rule: rule("elevenlabs_key", `(sk_[a-f0-9]{48})`+end, "mixed", "sk_"),
		pos:  []string{"sk_·0123456789abcdef0123456789abcdef0123456789abcdef"},
		neg:  []string{"sk_", "sk_buff", "task_0123456789abcdef0123456789abcdef0123456789abcdef"},
	},
	{
		Rule: rule("voyage_key", `(pa-[A-Za-z0-9_-]{43})`+end, "random", "pa-"),
		pos:  []string{"pa-·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStU"},
		neg:  []string{"pa-", "pa-rent-of-this-and-that-and-more-of-it-all-ok"},
	},
	{
		Rule: rule("llamacloud_key", `(llx-[A-Za-z0-9]{40,})`, "mixed", "llx-"),
		pos:  []string{"llx-·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz"},
		neg:  []string{"llx-", "llx-index"},
	},
	{
		Rule: rule("firecrawl_key", `(fc-[a-f0-9]{32})`+end, "mixed", "fc-"),
		pos:  []string{"fc-·0123456789abcdef0123456789abcdef"},
		neg:  []string{"fc-", "fc-list"},
	},
	{
		Rule: rule("jina_key", `(jina_[a-f0-9]{32}[A-Za-z0-9_-]{28})`+end, "", "jina_"),
		pos:  []string{"jina_·0123456789abcdef0123456789abcdefJ8kq2mV7n1pQ9rT5sW0uYzAbCdEf"},
		neg:  []string{"jina_", "jina_embeddings"},
	},
	{
		Rule: rule("e2b_key", `(e2b_[a-f0-9]{40})`+end, "", "e2b_"),
		pos:  []string{"e2b_·0123456789abcdef0123456789abcdef01234567"},
		neg:  []string{"e2b_", "e2b_sandbox"},
	},
	{
		Rule: rule("browserbase_key", `(bb_live_[A-Za-z0-9_-]{24,})`, "mixed", "bb_live_"),
		pos:  []string{"bb_live_·J8kq2mV7n1pQ9rT5sW0uYzAbCdE"},
		neg:  []string{"bb_live_", "bb_live_x"},
	},
	{
		Rule: rule("runpod_key", `(rpa_[A-Z0-9]{36,})`, "mixed", "rpa_"),
		pos:  []string{"rpa_·J8KQ2MV7N1PQ9RT5SW0UYZABCDEFGHIJKLMNOPQR"},
		neg:  []string{"rpa_", "rpa_flow"},
	},
	{
		Rule: rule("wandb_key", `(wandb_v1_[A-Za-z0-9_]{40,})`, "", "wandb_v1_"),
		pos:  []string{"wandb_v1_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefGhIjKlMnOpQrS"},
		neg:  []string{"wandb_v1_", "wandb_v1_x"},
	},
	{
		Rule: rule("logfire_token", `(pylf_v[0-9]_[a-z]{2}_[A-Za-z0-9]{40,})`, "", "pylf_v"),
		pos:  []string{"pylf_v1_us_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStU"},
		neg:  []string{"pylf_v", "pylf_v1_us_x"},
	},
	{
		Rule: rule("cursor_key", `((?:crsr|key)_[a-f0-9]{64})`+end, "", "crsr_", "key_"),
		pos:  []string{"crsr_·0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"},
		neg:  []string{"crsr_", "key_value", "key_0123456789abcdef0123456789abcdef01234567"},
	},
}
