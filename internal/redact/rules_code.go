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
	{
		Rule: rule("gitlab_token", `(GR1348941[A-Za-z0-9_-]{20})`+end, "", "GR1348941"),
		pos:  []string{"GR1348941·J8kq2mV7n1pQ9rT5sW0u"},
		neg:  []string{"GR1348941"},
	},
	{
		Rule: rule("crates_token", `(cio[A-Za-z0-9]{32})`+end, "random", "cio"),
		pos:  []string{"cio·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIj"},
		neg:  []string{"cio", "cionamesofthingsthatarelongerthan"},
	},
	{
		Rule: rule("nuget_key", `(oy2[a-z0-9]{43})`+end, "mixed", "oy2"),
		pos:  []string{"oy2·j8kq2mv7n1pq9rt5sw0uyzabcdefghijklmnopqrstu"},
		neg:  []string{"oy2", "oy2xyz"},
	},
	{
		Rule: rule("sonar_token", `(sq[apu]_[a-f0-9]{40})`+end, "", "sqp_", "squ_", "sqa_"),
		pos:  []string{"sqp_·0123456789abcdef0123456789abcdef01234567"},
		neg:  []string{"sqp_", "squ_x"},
	},
	{
		Rule: rule("circleci_token", `(CCIP(?:AT|RJ)_[A-Za-z0-9]{16,}_[a-f0-9]{40})`+end, "", "CCIPAT_", "CCIPRJ_"),
		pos:  []string{"CCIPAT_·J8kq2mV7n1pQ9rT5sW0uYz_0123456789abcdef0123456789abcdef01234567"},
		neg:  []string{"CCIPAT_", "CCIPRJ_x"},
	},
	{
		Rule: rule("buildkite_token", `(bk(?:ua|at|pt)_[a-z0-9]{40,})`, "mixed", "bkua_", "bkat_", "bkpt_"),
		pos:  []string{"bkua_·j8kq2mv7n1pq9rt5sw0uyzabcdefghijklmnopqr"},
		neg:  []string{"bkua_", "bkua_x"},
	},
	{
		Rule: rule("figma_token", `(fig[dor]_[A-Za-z0-9_-]{40,})`, "", "figd_", "figo_", "figr_"),
		pos:  []string{"figd_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStU"},
		neg:  []string{"figd_", "figd_x"},
	},
	{
		Rule: rule("sourcegraph_token", `(sgp_(?:[a-f0-9]{16}_|local_)?[a-f0-9]{40})`+end, "", "sgp_"),
		pos:  []string{"sgp_·0123456789abcdef_0123456789abcdef0123456789abcdef01234567"},
		neg:  []string{"sgp_", "sgp_x"},
	},
}
