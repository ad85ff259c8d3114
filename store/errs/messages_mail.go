package errs

// mailMessages are about invitations, other one-time links, and mail.
var mailMessages = []entry{
	{"link_unusable", "this link is invalid, has expired or was used already; ask for a new one", "", "链接无效、已过期或已被使用；请重新获取"},
	{"user_disabled", "%s is disabled", "name", "{name} 已停用"},
	{"has_password", "%s has a password already; create a password reset link instead", "name", "{name} 已有密码；请改为创建密码重置链接"},
	{"no_email", "%s has no email address", "name", "{name} 没有邮箱地址"},
	{"mail_off", "mail can't be sent: %s", "reason", "无法发送邮件：{reason}"},
	{"forgot_off", "this server does not send mail; ask your administrator for a new password", "", "此服务器不发送邮件；请向管理员索取新密码"},
	{"mail_turned_off", "it is turned off (setting mail.enabled)", "", "发送功能已关闭（设置 mail.enabled）"},
	{"setting_empty", "the setting %s is empty", "setting", "设置 {setting} 为空"},
	{"no_public_url", "server.public_url is missing in the configuration, so links would have no address", "", "配置中缺少 server.public_url，链接将没有地址"},
	{"mail_queue_full", "too many mails are waiting to be sent; try again later", "", "等待发送的邮件过多；请稍后再试"},
	{"too_many_mails", "too many mails were requested; try again in an hour", "", "请求的邮件过多；请一小时后再试"},
	{"link_gone", "the link of this mail was used or revoked, or has expired; create a new one", "", "此邮件的链接已被使用、撤销或过期；请创建新的链接"},
	{"email_permission", "permission %s is required to change the email address, since new passwords are mailed there", "permission", "更改邮箱地址需要权限 {permission}，因为新密码会发送到该地址"},
	{"mail_tests_full", "too many test mails are being sent", "", "正在发送的测试邮件过多"},
	{"owner_required", "only users with the owner role can change %s", "setting", "只有拥有所有者角色的用户才能更改 {setting}"},
	{"mail_health_off", "mail is turned off", "", "邮件发送已关闭"},
	{"mail_health", "mail is sent; %d waiting, %d failed within 30 days", "waiting failed", "邮件发送正常；{waiting} 封等待发送，30 天内 {failed} 封发送失败"},
	{"mail_server_down", "the mail server can't be used: %s", "response", "邮件服务器无法使用：{response}"},
}
