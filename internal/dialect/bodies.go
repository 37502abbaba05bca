package dialect

// trust takes texts that only look like references for the texts they are: a
// sender can write whatever it likes, and must not thereby make its result
// disappear or name a body of somebody else's.
func (c *Call) trust(opts *Options) {
	if c == nil {
		return
	}
	for _, content := range []*Content{&c.Args, &c.Result, &c.Request, &c.Response} {
		if content.Body != nil && !opts.References[content.Body.SHA256] {
			content.Body = nil
		}
	}
}
