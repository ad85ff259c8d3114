package errs

// appMessages are about app users who register, sign in and delete their account.
var appMessages = []entry{
	{"account_deletion_closed", "you can't delete your account yourself; ask the administrator",
		"", "您不能自行注销账号；请联系管理员"},
	{"not_pending", "can only be set to 0", "", "只能设为 0"},
	{"user_pending", "%s has not confirmed the registration yet", "name", "{name} 尚未确认注册"},
	{"domain_list", "must be domains like example.org, separated by commas", "",
		"必须是以逗号分隔的域名，例如 example.org"},
	{"domain_not_allowed", "must be in one of these domains: %s", "domains",
		"必须属于以下域名之一：{domains}"},
	{"registrations_full", "too many registrations wait to be confirmed; try again later", "",
		"等待确认的注册过多；请稍后再试"},
	{"registration_mail_off",
		"this server does not send mail, so registrations can't be confirmed; ask the administrator", "", "此服务器不发送邮件，无法确认注册；请联系管理员"},
	{"solution_invalid", "is invalid, expired or was used already; solve a new challenge", "",
		"无效、已过期或已被使用；请完成新的验证"},
	{"solutions_full", "too many registrations; try again later", "", "注册过多；请稍后再试"},
	{"passwords_differ", "is not the same password", "", "与新密码不一致"},
	{"challenge_off", "no challenge is needed", "", "无需验证"},
}
