package redact

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

// commandRules find passwords by the commands and statements they stand in.
var commandRules = []builtinRule{
	{
		Rule: rule("password", `sshpass\s+-p\s*["']?([^\s"']+)`, "word", "sshpass"),
		pos:  []string{"sshpass -p ·hunter2 ssh bob@h.test", "sshpass -p'·hunter2' ssh h"},
		neg:  []string{"sshpass", "sshpass -p $PASSWORD ssh h", "sshpass -e ssh h"},
	},
	{
		Rule: rule("password", `mysql(?:dump|admin|import)?\s(?:[^\n|;&]{0,200}?\s)?-p([^\s"']{3,128})`, "word", "mysql"),
		pos:  []string{"mysql -u root -p·hunter2 db", "mysqldump -h db -p·hunter2 x > y.sql"},
		neg:  []string{"mysql", "mysql -u root -p db", "mysql -p$PASSWORD db"},
	},
	{
		Rule: rule("password", `redis-cli\s(?:[^\n|;&]{0,200}?\s)?-a\s+["']?([^\s"']{3,128})`, "word", "redis-cli"),
		pos:  []string{"redis-cli -h cache -a ·hunter2 ping"},
		neg:  []string{"redis-cli", "redis-cli ping", "redis-cli -a $PASSWORD ping"},
	},
	{
		Rule: rule("password", `docker\s+login\s(?:[^\n|;&]{0,200}?\s)?-p\s+["']?([^\s"']{3,128})`, "word", "docker login"),
		pos:  []string{"docker login -u bob -p ·hunter2 registry.test"},
		neg:  []string{"docker login", "docker login -u bob --password-stdin"},
	},
	{
		Rule: rule("password", `-pass(?:in|out)?\s+pass:([^\s"']{3,128})`, "word", "-pass"),
		pos:  []string{"openssl rsa -passin pass:·hunter2 -in k.pem"},
		neg:  []string{"-pass", "openssl rsa -passin env:X", "-passing 3"},
	},
	{
		Rule: rule("password", `machine\s+\S{1,255}\s+login\s+\S{1,255}\s+password\s+(\S{1,255})`, "word", "machine "),
		pos:  []string{"machine api.test login bob password ·hunter2"},
		neg:  []string{"machine learning", "machine x login y"},
	},
	{
		Rule: rule("password", `(?i:identified by|password|pwd)\s+(?:password\s+)?'([^'\n]{3,128})'`, "word", "IDENTIFIED BY", "Identified by", "identified by", "PASSWORD '", "Password '", "password '", "pwd '"),
		pos:  []string{"CREATE USER bob IDENTIFIED BY '·hunter2';", "ALTER ROLE bob WITH PASSWORD '·hunter2';"},
		neg:  []string{"IDENTIFIED BY", "password 'x'", "PASSWORD '$PW'"},
	},
	{
		Rule: Rule{Type: "password", Keywords: []string{"@tcp(", "@unix("}, Expression: `(?:^|[^A-Za-z0-9_.-])[A-Za-z0-9_.-]{1,64}:([^\s@/"'\x60]{1,128})@(?:tcp|unix)\(`, Validate: "word"},
		pos:  []string{"bob:·hunter2@tcp(db.test:3306)/x?parseTime=true"},
		neg:  []string{"@tcp(", "bob@tcp(db:3306)/x", "bob:$PASSWORD@tcp(db)/x"},
	},
	{
		Rule: rule("password", `jdbc:oracle:thin:[^/\s]{1,64}/([^@\s"']{1,128})@`, "word", "jdbc:oracle:thin:"),
		pos:  []string{"jdbc:oracle:thin:scott/·tiger1@//db.test:1521/x"},
		neg:  []string{"jdbc:oracle:thin:", "jdbc:oracle:thin:@//db.test:1521/x"},
	},
}
