export {Reeve} from './client.js'
export {ReeveError} from './send.js'
export {verifyWebhook, WebhookError} from './webhook.js'
