package errs

// keyMessages are about API keys.
var keyMessages = []entry{
	{"unknown_key", "unknown API key, or it was disabled, deleted or has expired", "", "未知的 API 密钥，或者它已被停用、删除或已过期"},
	{"key_network", "this API key can't be used from your address", "", "不能从您的地址使用此 API 密钥"},
	{"key_rate_limit", "this API key may send %d requests per minute; try again in a moment", "limit", "此 API 密钥每分钟最多发送 {limit} 个请求；请稍后再试"},
	{"key_not_allowed", "API keys can't be used for this; sign in", "", "此操作不能使用 API 密钥；请登录"},
	{"key_owner", "an API key can't change its owner", "", "API 密钥不能更改其所有者"},
	{"key_of_owner", "the owner of API key %d", "id", "API 密钥 {id} 的所有者"},
	{"key_named", "API key %s", "name", "API 密钥 {name}"},
	{"key_resume", "only a user with the owner role can resume an API key", "", "只有拥有所有者角色的用户才能恢复 API 密钥"},
	{"key_adopt", "only a user with the owner role can adopt an API key, and nobody can adopt a personal one", "", "只有拥有所有者角色的用户才能接管 API 密钥，个人密钥不能被接管"},
	{"personal_key", "a personal API key can only be disabled or deleted by others", "", "其他人只能停用或删除个人 API 密钥"},
	{"personal_keys_off", "personal API keys are turned off; see the setting security.personal_keys", "", "个人 API 密钥已关闭；请参阅设置 security.personal_keys"},
	{"too_many_keys", "there are already %d API keys, which is the maximum", "count", "已有 {count} 个 API 密钥，达到上限"},
	{"too_many_own_keys", "you already have %d API keys, which is the maximum", "count", "您已有 {count} 个 API 密钥，达到上限"},
	{"network", "contains %q, which is no IP address or network, such as 192.0.2.7 or 10.0.0.0/8", "network", "包含 {network}，它不是 IP 地址或网络，例如 192.0.2.7 或 10.0.0.0/8"},
	{"too_many_networks", "must be at most %d addresses or networks", "count", "最多 {count} 个地址或网络"},
	{"key_owner_role", "must not contain the owner role: no API key has it", "", "不能包含所有者角色：API 密钥不能拥有它"},
	{"future", "must be in the future", "", "必须是将来的时间"},
	{"key_max_days", "must be within %d days; see the setting security.key_max_days", "days", "必须在 {days} 天以内；请参阅设置 security.key_max_days"},
	{"user_or_key", "either user_id or key_id is required", "", "必须提供 user_id 或 key_id 其中之一"},
	{"token_or_user", "either token or user_id is required", "", "必须提供 token 或 user_id 其中之一"},
	{"permission_keys", "must be keys of permissions", "", "必须是权限标识"},
	{"form_media", "the Content-Type of the body must be application/x-www-form-urlencoded", "", "请求体的 Content-Type 必须是 application/x-www-form-urlencoded"},
	{"malformed_form", "malformed form", "", "表单格式不正确"},
	{"not_for_keys", "is not available for API keys", "", "不适用于 API 密钥"},
	{"backup_recipients_required", "backups for API keys must be encrypted; name the recipients in backup.recipients", "", "供 API 密钥使用的备份必须加密；请在 backup.recipients 中指定接收者"},

	{"keys_fine", "API keys: %d", "count", "API 密钥：{count}"},
	{"keys_attention", "of %d API keys, %d have been unused for 90 days, %d have expired, %d are paused, and %d have no owner", "count unused expired paused without_owner", "{count} 个 API 密钥中，{unused} 个 90 天未使用，{expired} 个已过期，{paused} 个已暂停，{without_owner} 个没有所有者"},
}
