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
	{
		Rule: rule("aws_session_token", `((?:FwoGZXIvYXdz|IQoJb3JpZ2lu)[A-Za-z0-9+/%]{100,}(?:%3D|=){0,2})`, "", "FwoGZXIvYXdz", "IQoJb3JpZ2lu"),
		pos:  []string{"IQoJb3JpZ2lu·X2VjEJ8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefGhIjKlMnOpQrStUvWxYzJ8kq2mV7n1pQ"},
		neg:  []string{"IQoJb3JpZ2lu", "FwoGZXIvYXdzEBY"},
	},
	{
		Rule: Rule{Type: "google_fcm_key", Keywords: []string{":APA91b"}, Expression: `(?:^|[^A-Za-z0-9_-])([A-Za-z0-9_-]{11}:APA91b[A-Za-z0-9_-]{130,140})` + end},
		pos:  []string{"AAAA1234567:APA91b·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefGhIjKlMnOpQrStUvWxYzJ8kq2mV7n1pQj8kq2mv7n1pq9rt5sw0uyzabcdefghijklmnop"},
		neg:  []string{":APA91b", "AAAA1234567:APA91bshort"},
	},
	{
		Rule: Rule{Type: "azure_key", Keywords: []string{"JQQJ99"}, Expression: `(?:^|[^A-Za-z0-9])([A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26})` + end},
		pos:  []string{"J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123JQQJ99·BAACYeBjFXJ3w3AAABACOGabcd"},
		neg:  []string{"JQQJ99", "xJQQJ99BAAC"},
	},
	{
		Rule: Rule{Type: "azure_storage_key", Keywords: []string{"+ASt", "+AEh", "+ASb", "+ARm", "ACDb"}, Expression: `(?:^|[^A-Za-z0-9+/])([A-Za-z0-9+/]{76}(?:\+ASt|\+AEh|\+ASb|\+ARm|ACDb)[A-Za-z0-9+/]{6}==)`},
		pos:  []string{"key J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefGhIjKlMnOpQr·+AStJ8kq2m=="},
		neg:  []string{"+ASt", "MACDbench", "1+AStar"},
	},
	{
		Rule: rule("heroku_key", `(HRKU-AA[A-Za-z0-9_-]{50,})`, "", "HRKU-AA"),
		pos:  []string{"HRKU-AA·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789"},
		neg:  []string{"HRKU-AA"},
	},
	{
		Rule: rule("fly_token", `((?:fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/]{100,}={0,3}))`, "mixed", "fo1_", "fm1_", "fm2_", "fm1a_", "fm1r_"),
		pos:  []string{"fo1_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStU"},
		neg:  []string{"fo1_", "fm2_radio"},
	},
	{
		Rule: rule("cloudflare_token", `(cf(?:k|ut|at)_[A-Za-z0-9]{40,})`, "mixed", "cfk_", "cfut_", "cfat_"),
		pos:  []string{"cfut_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz"},
		neg:  []string{"cfut_", "cfk_value"},
	},
	{
		Rule: rule("cloudflare_origin_key", `(v1\.0-[a-f0-9]{24}-[a-f0-9]{100,})`, "", "v1.0-"),
		pos:  []string{"v1.0-·0123456789abcdef01234567-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef01230123456789abcdef"},
		neg:  []string{"v1.0-", "v1.0-beta"},
	},
	{
		Rule: rule("netlify_token", `(nfp_[A-Za-z0-9_]{36,})`, "mixed", "nfp_"),
		pos:  []string{"nfp_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMn"},
		neg:  []string{"nfp_", "nfp_server"},
	},
	{
		Rule: rule("vercel_token", `(vercel_blob_rw_[A-Za-z0-9]{10,}_[A-Za-z0-9]{20,})`, "", "vercel_blob_rw_"),
		pos:  []string{"vercel_blob_rw_·J8kq2mV7n1pQ9rT5_J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGh"},
		neg:  []string{"vercel_blob_rw_", "vercel_blob_rw_x"},
	},
	{
		Rule: rule("supabase_key", `((?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,}))`, "", "sbp_", "sb_secret_"),
		pos:  []string{"sbp_·0123456789abcdef0123456789abcdef01234567", "sb_secret_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhI"},
		neg:  []string{"sbp_", "sb_secret_name"},
	},
	{
		Rule: rule("planetscale_token", `(pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=-]{32,})`, "", "pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
		pos:  []string{"pscale_tkn_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStU"},
		neg:  []string{"pscale_tkn_", "pscale_pw_x"},
	},
	{
		Rule: Rule{Type: "terraform_token", Keywords: []string{".atlasv1."}, Expression: `(?:^|[^A-Za-z0-9])([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,})`},
		pos:  []string{"J8kq2mV7n1pQ9r·.atlasv1.J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefGhI"},
		neg:  []string{".atlasv1.", "x.atlasv1.y"},
	},
	{
		Rule: rule("doppler_token", `(dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44})`, "", "dp.pt.", "dp.ct.", "dp.st.", "dp.sa.", "dp.scim.", "dp.audit."),
		pos:  []string{"dp.pt.·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStU", "dp.st.prod.·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStU"},
		neg:  []string{"dp.pt.", "dp.st.name"},
	},
	{
		Rule: rule("onepassword_token", `(ops_eyJ[A-Za-z0-9+/_-]{200,}={0,3})`, "", "ops_eyJ"),
		pos:  []string{"ops_·eyJJ8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefGhIjKlMnOpQrStUvWxYzJ8kq2mV7n1pQJ8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefGhIjKlMnOpQrStUvWxYzJ8kq2mV7n1pQJ8kq2mV7n1pQ9rT5sW0u"},
		neg:  []string{"ops_eyJ", "ops_team"},
	},
	{
		Rule: rule("onepassword_key", `(A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})`+end, "", "A3-"),
		pos:  []string{"A3-·ASWWYB-798JRYLJVD4-23DC2-86TVM-H43EB"},
		neg:  []string{"A3-", "A3-SIZE", "LA3-ASWWYB-798JRYLJVD4-23DC2-86TVM-H43EB"},
	},
	{
		Rule: rule("dynatrace_token", `(dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64})`+end, "", "dt0c01.", "dt0s01.", "dt0s02."),
		pos:  []string{"dt0c01.·J8KQ2MV7N1PQ9RT5SW0UYZAB.J8KQ2MV7N1PQ9RT5SW0UYZABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEF"},
		neg:  []string{"dt0c01.", "dt0c01.SHORT.X"},
	},
	{
		Rule: rule("honeycomb_key", `(hc[abx][il]k_[a-z0-9]{26,})`, "mixed", "hcaik_", "hcxik_", "hcbik_", "hcalk_", "hcxlk_", "hcblk_"),
		pos:  []string{"hcaik_·j8kq2mv7n1pq9rt5sw0uyzabcdefghijklmnopqrstuvwxyz0123456789"},
		neg:  []string{"hcaik_", "hcxik_x"},
	},
	{
		Rule: rule("newrelic_key", `((?:NRII|NRJS)-[A-Za-z0-9_-]{19,32})`+end, "mixed", "NRII-", "NRJS-"),
		pos:  []string{"NRII-·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIj"},
		neg:  []string{"NRII-", "NRJS-short"},
	},
	{
		Rule: rule("artifactory_key", `((?:AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59}))`+end, "mixed", "AKCp", "cmVmd"),
		pos:  []string{"AKCp·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefGhIjK"},
		neg:  []string{"AKCp", "AKCpackage"},
	},
	{
		Rule: rule("posthog_key", `(ph[xs]_[A-Za-z0-9]{40,})`, "mixed", "phx_", "phs_"),
		pos:  []string{"phx_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStU"},
		neg:  []string{"phx_", "phx_value"},
	},
}
