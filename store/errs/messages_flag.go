package errs

// flagMessages are about feature flags and their evaluation.
var flagMessages = []entry{
	{"flag_unseen", "%s is no enabled user in the data scope of this API key, so that rules about users, roles and departments do not match; give the key a larger data scope, or state user_id", "key", "{key} 不是此 API 密钥数据范围内已启用的用户，因此关于用户、角色和部门的规则不匹配；请扩大密钥的数据范围，或提供 user_id"},
	{"variant_value", "must be a boolean, a string, a number or an object", "", "必须是布尔值、字符串、数字或对象"},
	{"variant_type", "must have the type of the other variants: %s", "type", "类型必须与其他变体相同：{type}"},
	{"variant_name", "must be the name of a variant", "", "必须是某个变体的名称"},
	{"after_from", "must be after from", "", "必须晚于 from"},
	{"variant_or_percent", "either variant or percent is required", "", "必须提供 variant 或 percent 其中之一"},
	{"percentage", "must be a percentage from 0 to 100 with at most three decimals", "", "必须是 0 到 100 的百分比，最多三位小数"},
	{"percent_sum", "must add up to 100", "", "总和必须为 100"},
	{"use_instead", "use %s instead", "name", "请改用 {name}"},
	{"true_or_false", "must be true or false", "", "必须是 true 或 false"},
	{"flag_text", "names and values must be 1 to %d characters without line breaks", "max", "名称和值必须是 1 到 {max} 个字符，不含换行符"},
	{"flag_or_string", "must be an object or a string", "", "必须是对象或字符串"},

	{"flag_not_found", "the flag does not exist, or you can't read it", "", "该功能开关不存在，或者您无权读取"},
	{"flag_damaged", "the stored flag is not valid; save it again", "", "存储的功能开关无效；请重新保存"},
	{"targeting_key_missing", "this flag is decided by a percentage, which requires a targetingKey in the context", "", "此功能开关按百分比决定，需要上下文中的 targetingKey"},
	{"targeting_key", "targetingKey must be a string of at most %d characters", "max", "targetingKey 必须是最多 {max} 个字符的字符串"},
	{"context_attributes", "the context must have at most %d attributes with names and texts of at most %d characters", "count max", "上下文最多可有 {count} 个属性，名称和文本最多 {max} 个字符"},
	{"context_ids", "%s must be an array of at most %d IDs or names", "name count", "{name} 必须是最多 {count} 个 ID 或名称的数组"},
	{"context_id", "%s must be an ID", "name", "{name} 必须是 ID"},
	{"not_a_flag", "must be the key of a flag, like shop.checkout", "", "必须是功能开关的键，例如 shop.checkout"},
}
