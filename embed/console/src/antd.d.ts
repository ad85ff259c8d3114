// Types of antd without the parts that the build leaves out (scripts/replacements.ts), so
// that using one does not compile. tsconfig.json resolves antd to this file; bundlers do
// not read it.
import type * as antd from 'antd/es/index'
import type { BasicDataNode, DataNode } from 'antd/es/tree'
import type { ComponentProps, FC, ForwardRefExoticComponent, PropsWithChildren, ReactElement, RefAttributes } from 'react'

export * from 'antd/es/index'

type Without<Name extends string> = { [N in Name]?: never }

export declare const Input: ForwardRefExoticComponent<antd.InputProps & RefAttributes<antd.InputRef>>

export declare const Tree: <T extends BasicDataNode | DataNode = DataNode>(
  props: PropsWithChildren<antd.TreeProps<T>> & RefAttributes<antd.TreeInstance>,
) => ReactElement

type Plain<Component extends FC<never>> = FC<ComponentProps<Component> & Without<'copyable' | 'editable'>>
export declare const Typography: Plain<typeof antd.Typography> & {
  Text: Plain<typeof antd.Typography.Text>
  Link: Plain<typeof antd.Typography.Link>
  Title: Plain<typeof antd.Typography.Title>
  Paragraph: Plain<typeof antd.Typography.Paragraph>
}

type Filters =
  | 'filters'
  | 'filterDropdown'
  | 'filterDropdownProps'
  | 'filterIcon'
  | 'filterMode'
  | 'filterMultiple'
  | 'filterSearch'
  | 'filtered'
  | 'filteredValue'
  | 'defaultFilteredValue'
  | 'onFilter'

export type TableColumnType<T = antd.AnyObject> = Omit<antd.TableColumnType<T>, Filters> & Without<Filters>
export type TableColumnGroupType<T = antd.AnyObject> = Omit<TableColumnType<T>, 'dataIndex'> & { children: TableColumnsType<T> }
export type TableColumnsType<T = antd.AnyObject> = (TableColumnGroupType<T> | TableColumnType<T>)[]
export type TableProps<T = antd.AnyObject> = Omit<antd.TableProps<T>, 'columns' | 'rowSelection'> & {
  columns?: TableColumnsType<T>
  rowSelection?: Omit<NonNullable<antd.TableProps<T>['rowSelection']>, 'type' | 'checkStrictly'> & { type?: 'checkbox'; checkStrictly?: true }
}
export declare const Table: <T = antd.AnyObject>(props: PropsWithChildren<TableProps<T>> & RefAttributes<antd.TableRef>) => ReactElement
