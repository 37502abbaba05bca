package attribution

// The classes, in the order of causes: a wrong choice of tool comes before wrong
// arguments, and those before what the tool made of them.
const (
	ToolSelection      = "tool_selection_error"
	ArgsGeneration     = "args_generation_error"
	SchemaMismatch     = "schema_mismatch"
	ApprovalMissing    = "approval_missing"
	PermissionDenied   = "permission_denied"
	PolicyRegression   = "policy_regression"
	ExternalTimeout    = "external_timeout"
	SideEffectConflict = "side_effect_conflict"
	ResponseParse      = "response_parse_error"
	Unattributed       = "unattributed"
)

var causes = []string{
	ToolSelection, ArgsGeneration, SchemaMismatch, ApprovalMissing, PermissionDenied,
	PolicyRegression, ExternalTimeout, SideEffectConflict, ResponseParse,
}

// Rules is the built-in table.
var Rules = []Rule{
	{
		Class:   ToolSelection,
		Codes:   []string{"-32601", "ToolNotFoundError", "NoSuchToolError", "AI_NoSuchToolError", "UnknownToolError", "tool_not_found", "UnknownTool"},
		Phrases: []string{"unknown tool", "no such tool", "tool not found", "unavailable tool", "is not a valid tool", "tool does not exist"},
		// JSON-RPC's own words, which are not those of a payment method that is gone.
		Pattern: `(?i)(?:^|[:"'(]\s*)method not found\b`,
	},
	{
		Class: ArgsGeneration,
		Codes: []string{"-32602", "400", "422", "ValidationError", "ToolInputValidationError", "InvalidToolInputError", "AI_InvalidToolInputError", "InvalidToolArgumentsError", "AI_InvalidToolArgumentsError", "ToolArgumentsError", "invalid_arguments", "InvalidArgument", "INVALID_ARGUMENT", "ModelBehaviorError"},
		Phrases: []string{
			"invalid arguments", "invalid argument", "invalid params", "invalid parameters", "invalid tool input", "missing required", "field required",
			"is a required property", "required positional argument", "required parameter", "validation error", "validation errors", "input validation",
			"bad request", "unprocessable entity", "arguments are not valid json",
		},
	},
	{
		Class:   SchemaMismatch,
		Codes:   []string{"SchemaMismatchError", "SchemaError", "schema_mismatch"},
		Phrases: []string{"unexpected keyword argument", "unknown field", "unknown parameter", "unrecognized key", "unrecognized keys", "additional properties", "extra inputs are not permitted", "schema mismatch", "schema version", "unknown argument"},
	},
	{
		Class:   ApprovalMissing,
		Codes:   []string{"ApprovalRequired", "ApprovalRequiredError", "approval_required", "ToolCallRejected"},
		Phrases: []string{"approval required", "requires approval", "needs approval", "not approved", "without approval", "rejected by user", "denied by user", "user rejected", "user denied"},
	},
	{
		Class:   PermissionDenied,
		Codes:   []string{"401", "403", "EACCES", "EPERM", "PermissionError", "PermissionDenied", "PERMISSION_DENIED", "UNAUTHENTICATED", "UnauthorizedError", "ForbiddenError", "AccessDenied", "AccessDeniedException", "AuthenticationError", "PermissionDeniedError", "permission_denied"},
		Phrases: []string{"permission denied", "access denied", "access is denied", "forbidden", "unauthorized", "not authorized", "unauthenticated", "operation not permitted", "insufficient permissions", "insufficient scope", "invalid api key", "401 unauthorized", "403 forbidden"},
	},
	{
		Class:   PolicyRegression,
		Codes:   []string{"PolicyViolation", "PolicyViolationError", "content_filter", "GuardrailTripwireTriggered", "InputGuardrailTripwireTriggered", "OutputGuardrailTripwireTriggered", "policy_denied"},
		Phrases: []string{"blocked by policy", "denied by policy", "violates policy", "policy violation", "content filter", "guardrail"},
	},
	{
		Class:   ExternalTimeout,
		Codes:   []string{"408", "504", "ETIMEDOUT", "ESOCKETTIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "TimeoutError", "Timeout", "ReadTimeout", "ConnectTimeout", "APITimeoutError", "TimeoutException", "SocketTimeoutException", "DeadlineExceeded", "DEADLINE_EXCEEDED", "timeout", "TimeoutExpired"},
		Phrases: []string{"timed out", "timeout", "time out", "deadline exceeded", "504 gateway"},
	},
	{
		Class:   SideEffectConflict,
		Codes:   []string{"409", "412", "EEXIST", "ConflictError", "FileExistsError", "AlreadyExists", "ALREADY_EXISTS", "ConditionalCheckFailedException", "IntegrityError", "conflict"},
		Phrases: []string{"already exists", "conflict", "duplicate key", "precondition failed", "version mismatch", "was modified", "has been modified", "unique constraint", "already booked", "already processed"},
	},
	{
		Class:   ResponseParse,
		Codes:   []string{"JSONDecodeError", "JsonException", "SyntaxError", "OutputParserException", "ParseError", "UnmarshalTypeError", "DecodeError", "AI_JSONParseError", "JSONParseError", "UnicodeDecodeError"},
		Phrases: []string{"failed to parse", "could not parse", "cannot parse", "unexpected token", "unexpected end of json", "invalid json", "invalid character", "not valid json", "failed to decode", "cannot unmarshal", "malformed response"},
	},
}
