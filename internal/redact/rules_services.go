package redact

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
	{
		Rule: Rule{Type: "telegram_token", Keywords: []string{":AA"}, Expression: `(?:^|[^0-9A-Za-z]|bot)([0-9]{8,10}:AA[A-Za-z0-9_-]{33})(?:[^A-Za-z0-9_-]|$)`},
		pos:  []string{"123456789:·AAJ8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjK", "https://api.telegram.org/bot123456789:·AAJ8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjK/getMe"},
		neg:  []string{":AA", "12:AA:BB:CC"},
	},
	{
		Rule: Rule{Type: "mailchimp_key", Keywords: []string{"-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"}, Expression: `(?:^|[^0-9A-Za-z])([a-f0-9]{32}-us[0-9]{1,2})` + end},
		pos:  []string{"0123456789abcdef0123456789abcdef·-us21"},
		neg:  []string{"-us1", "dc-us1"},
	},
	{
		Rule: rule("resend_key", `(re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24})`+end, "mixed", "re_"),
		pos:  []string{"re_·J8kq2mV7_J8kq2mV7n1pQ9rT5sW0uYzAb"},
		neg:  []string{"re_", "re_compile_pattern"},
	},
	{
		Rule: rule("teams_webhook", `\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/_-]{60,})`, "", ".webhook.office.com/webhookb2/"),
		pos:  []string{"https://x.webhook.office.com/webhookb2/·01234567-89ab-cdef-0123-456789abcdef@01234567-89ab-cdef-0123-456789abcdef/IncomingWebhook/0123456789abcdef0123456789abcdef"},
		neg:  []string{"https://x.webhook.office.com/webhookb2/"},
	},
	{
		Rule: rule("facebook_token", `(EAA[A-Za-z0-9]{80,})`, "random", "EAA"),
		pos:  []string{"EAA·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789abcdefGhIjKlMnOpQrStUvWxYzJ8kq2mV7n1pQ"},
		neg:  []string{"EAA", "EAAssociation"},
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
	{
		Rule: rule("square_token", `(EAAA[A-Za-z0-9_-]{60})`+end, "random", "EAAA"),
		pos:  []string{"EAAA·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIjKlMnOpQrStUvWxYz0123456789ab"},
		neg:  []string{"EAAA", "EAAAB"},
	},
	{
		Rule: rule("razorpay_key", `(rzp_(?:live|test)_[A-Za-z0-9]{14})`+end, "", "rzp_live_", "rzp_test_"),
		pos:  []string{"rzp_live_·J8kq2mV7n1pQ9r"},
		neg:  []string{"rzp_live_", "rzp_test_x"},
	},
	{
		Rule: rule("flutterwave_key", `(FLWSECK(?:_TEST)?-[a-z0-9]{12,32}-X)`+end, "", "FLWSECK"),
		pos:  []string{"FLWSECK_TEST-·j8kq2mv7n1pq9rt5sw0uyzabcdefghij-X"},
		neg:  []string{"FLWSECK", "FLWSECK_TEST"},
	},
	{
		Rule: rule("plaid_token", `((?:access|public|link)-(?:sandbox|development|production)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})`+end, "", "access-sandbox-", "access-development-", "access-production-", "public-sandbox-", "public-development-", "public-production-", "link-sandbox-", "link-development-", "link-production-"),
		pos:  []string{"access-production-·01234567-89ab-cdef-0123-456789abcdef"},
		neg:  []string{"access-production-", "access-sandbox-mode"},
	},
	{
		Rule: rule("xendit_key", `(xnd_(?:public_)?(?:production|development)_[A-Za-z0-9]{20,})`, "", "xnd_production_", "xnd_development_"),
		pos:  []string{"xnd_production_·J8kq2mV7n1pQ9rT5sW0uYzAbCdEfGhIj"},
		neg:  []string{"xnd_production_", "xnd_development_x"},
	},
}
