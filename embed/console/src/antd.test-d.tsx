// Each of these is missing in the console's build, and must not compile: the type
// checker reports a line here that is no error.
import { Input, Table, type TableProps, Tree, Typography } from 'antd'

// @ts-expect-error
void Input.Group
// @ts-expect-error
void Input.OTP
// @ts-expect-error
void Input.Search
// @ts-expect-error
void Input.TextArea
// @ts-expect-error
void Input.Password
// @ts-expect-error
void Tree.DirectoryTree
// @ts-expect-error
void Table.Column

// @ts-expect-error
void (<Typography.Text copyable>a</Typography.Text>)
// @ts-expect-error
void (<Typography.Paragraph editable>a</Typography.Paragraph>)
// @ts-expect-error
void (<Typography.Title copyable>a</Typography.Title>)
// @ts-expect-error
void (<Typography.Link editable>a</Typography.Link>)
// @ts-expect-error
void (<Typography copyable>a</Typography>)

type Row = { id: number }
// @ts-expect-error
void (<Table<Row> columns={[{ filters: [] }]} />)
// @ts-expect-error
void (<Table<Row> columns={[{ onFilter: () => true }]} />)
// @ts-expect-error
void (<Table<Row> columns={[{ title: 'a', children: [{ filterDropdown: () => null }] }]} />)
// @ts-expect-error
void ({ columns: [{ filters: [] }] } satisfies TableProps<Row>)
// @ts-expect-error
void (<Table<Row> rowSelection={{ type: 'radio' }} />)
// @ts-expect-error
void (<Table<Row> rowSelection={{ checkStrictly: false }} />)

// What is left compiles.
void (<Table<Row> columns={[{ title: 'a', sorter: true, children: [{ title: 'b' }] }]} rowSelection={{ type: 'checkbox' }} />)
void (
  <Typography.Text type="secondary" ellipsis>
    a
  </Typography.Text>
)
