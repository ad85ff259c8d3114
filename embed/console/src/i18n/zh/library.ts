// What the component library and the calendar say in Chinese. Only those who read Chinese
// load it.
import zhCN from 'antd/es/locale/zh_CN'
import dayjs from 'dayjs'
import 'dayjs/locale/zh-cn'

dayjs.locale('zh-cn')
Object.assign(zhCN.DatePicker?.lang ?? {}, { yearSelect: undefined, monthSelect: undefined }) // as in English

export { zhCN }
