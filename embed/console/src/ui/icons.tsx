import {
  ApartmentOutlined,
  AppstoreOutlined,
  BookOutlined,
  ContactsOutlined,
  ControlOutlined,
  DashboardOutlined,
  DeleteOutlined,
  FileOutlined,
  FolderOpenOutlined,
  FolderOutlined,
  HomeOutlined,
  IdcardOutlined,
  InfoCircleOutlined,
  LaptopOutlined,
  LoginOutlined,
  RadarChartOutlined,
  SafetyCertificateOutlined,
  SettingOutlined,
  ShopOutlined,
  TeamOutlined,
  UserOutlined,
} from '@ant-design/icons'
import type { ComponentType } from 'react'

// The icons that a permission can name. Each that is here is in the first page that
// anybody loads, so the set stays small.
export const icons: Record<string, ComponentType> = {
  ApartmentOutlined,
  AppstoreOutlined,
  BookOutlined,
  ContactsOutlined,
  ControlOutlined,
  DashboardOutlined,
  DeleteOutlined,
  FileOutlined,
  FolderOpenOutlined,
  FolderOutlined,
  HomeOutlined,
  IdcardOutlined,
  InfoCircleOutlined,
  LaptopOutlined,
  LoginOutlined,
  RadarChartOutlined,
  SafetyCertificateOutlined,
  SettingOutlined,
  ShopOutlined,
  TeamOutlined,
  UserOutlined,
}

export function Icon({ name }: { name: string }) {
  const Known = Object.hasOwn(icons, name) ? icons[name]! : AppstoreOutlined
  return <Known />
}
