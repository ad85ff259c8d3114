import { theme, type ThemeConfig } from 'antd'

// Theme of the console. Blue and red are also text colors and need a contrast of 4.5:1; so
// in dark mode they are light, with dark text on them.

// Honors the system's reduced-motion setting. Read once: switching it later would remount
// everything and lose input.
const motion = !matchMedia('(prefers-reduced-motion: reduce)').matches

const shared = { borderRadius: 6, borderRadiusLG: 10, borderRadiusSM: 5, wireframe: false, motion }

const shape: ThemeConfig['components'] = {
  Menu: {
    itemBorderRadius: 6,
    itemHeight: 36,
    itemMarginInline: 8,
    iconMarginInlineEnd: 10,
    activeBarBorderWidth: 0,
    itemBg: 'transparent',
    subMenuItemBg: 'transparent',
  },
  Table: { headerSplitColor: 'transparent', headerBorderRadius: 0 },
  Card: { headerFontSize: 15, headerHeight: 48, headerHeightSM: 40 },
}

export const light: ThemeConfig = {
  algorithm: theme.defaultAlgorithm,
  token: {
    ...shared,
    colorPrimary: '#0958d9',
    colorPrimaryHover: '#1a66e0',
    colorLink: '#0958d9',
    colorLinkHover: '#003eb3',
    colorInfo: '#0958d9',
    colorError: '#cf1322',
    colorErrorHover: '#d9363e',
    colorErrorBg: '#fff1f0',
    colorSuccess: '#247a0c',
    colorSuccessBg: '#f0faeb',
    colorSuccessBorder: '#b7e3a1',
    colorWarning: '#995a00',
    colorWarningBg: '#fff8e6',
    colorWarningBorder: '#f5d58a',
    colorPrimaryBg: '#e4ecfa',
    controlItemBgActive: '#e4ecfa',
    controlItemBgActiveHover: '#d6e3f9',
    colorBgLayout: '#f7f8fa',
    colorBorderSecondary: '#ebedf0',
    colorTextBase: '#16181d',
    colorTextTertiary: 'rgba(22, 24, 29, 0.64)',
    colorTextDescription: 'rgba(22, 24, 29, 0.64)',
    colorTextQuaternary: 'rgba(22, 24, 29, 0.62)',
    colorTextPlaceholder: 'rgba(22, 24, 29, 0.62)',
  },
  components: {
    ...shape,
    Checkbox: { colorBorder: '#8c929c' },
    Radio: { colorBorder: '#8c929c' },
    Menu: { ...shape.Menu, itemColor: '#40444d', itemHoverBg: '#eceef2', itemSelectedBg: '#e4ecfa', itemSelectedColor: '#0747b3', itemActiveBg: '#e4ecfa' },
    Table: {
      ...shape.Table,
      headerBg: '#fff',
      headerColor: 'rgba(22, 24, 29, 0.66)',
      rowHoverBg: '#f7f8fa',
      rowSelectedBg: '#eef3fc',
      rowSelectedHoverBg: '#e4ecfa',
      borderColor: '#ebedf0',
    },
  },
}

const onColor = '#0b1524'

export const dark: ThemeConfig = {
  algorithm: theme.darkAlgorithm,
  token: {
    ...shared,
    colorPrimary: '#8cbcff',
    colorLink: '#8cb9f5',
    colorLinkHover: '#b5d3fb',
    colorInfo: '#8cbcff',
    colorError: '#ff928d',
    colorPrimaryBg: '#1d2a40',
    controlItemBgActive: '#1d2a40',
    controlItemBgActiveHover: '#24344f',
    colorBgLayout: '#101215',
    colorBgContainer: '#16181c',
    colorBgElevated: '#1f2227',
    colorBorder: '#454a52',
    colorBorderSecondary: '#2a2d33',
    colorTextTertiary: 'rgba(255, 255, 255, 0.6)',
    colorTextDescription: 'rgba(255, 255, 255, 0.6)',
    colorTextQuaternary: 'rgba(255, 255, 255, 0.55)',
    colorTextPlaceholder: 'rgba(255, 255, 255, 0.55)',
  },
  components: {
    ...shape,
    Button: { primaryColor: onColor, dangerColor: onColor },
    Drawer: { colorBgElevated: '#16181c' },
    Slider: { trackBg: '#8cbcff', trackHoverBg: '#8cbcff' },
    DatePicker: { colorTextLightSolid: onColor },
    Select: { colorTextDisabled: 'rgba(255, 255, 255, 0.72)' },
    Badge: { colorTextLightSolid: onColor },
    Checkbox: { colorWhite: onColor, colorBorder: '#7a818c' },
    Radio: { colorBorder: '#7a818c' },
    Menu: { ...shape.Menu, itemColor: '#c3c7ce', itemHoverBg: '#1d2025', itemSelectedBg: '#1d2a40', itemSelectedColor: '#a8cbfb', itemActiveBg: '#1d2a40' },
    Table: {
      ...shape.Table,
      headerBg: '#16181c',
      headerColor: 'rgba(255, 255, 255, 0.64)',
      rowHoverBg: '#1b1e22',
      rowSelectedBg: '#1a2231',
      rowSelectedHoverBg: '#1d2a40',
      borderColor: '#2a2d33',
    },
  },
}
