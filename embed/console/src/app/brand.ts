import { theme, type ThemeConfig } from 'antd'
import { dark, light } from './theme'

// The themes with another accent color. The server has checked that it is legible on the backgrounds, and on these tints.

// mixed is a color with a share of another one.
function mixed(color: string, other: string, share: number): string {
  const part = (text: string, i: number) => Number.parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16)
  const hex = [0, 1, 2].map((i) => Math.round(part(color, i) * (1 - share) + part(other, i) * share))
  return `#${hex.map((n) => n.toString(16).padStart(2, '0')).join('')}`
}

// tinted is a theme with an accent color. strong is what the accent gets more of where it is pressed or pointed at.
function tinted(base: ThemeConfig, algorithm: typeof theme.darkAlgorithm, accent: string, background: string, strong: string): ThemeConfig {
  const tint = mixed(background, accent, 0.08)
  const deep = mixed(background, accent, 0.1)
  const { Menu, Table, Slider } = base.components ?? {}
  const colors = {
    colorPrimary: accent,
    colorPrimaryHover: mixed(accent, strong, 0.08),
    colorPrimaryActive: mixed(accent, strong, 0.16),
    colorLink: accent,
    colorLinkHover: mixed(accent, strong, 0.16),
    colorInfo: accent,
    colorPrimaryBg: tint,
    controlItemBgActive: tint,
    controlItemBgActiveHover: deep,
  }
  return {
    ...base,
    algorithm: (seed, map) => ({ ...algorithm(seed, map), ...colors }), // in dark mode, the library darkens colors otherwise
    token: { ...base.token, ...colors },
    components: {
      ...base.components,
      Menu: { ...Menu, itemSelectedBg: tint, itemSelectedColor: accent, itemActiveBg: tint },
      Table: { ...Table, rowSelectedBg: tint, rowSelectedHoverBg: deep },
      ...(Slider && { Slider: { ...Slider, trackBg: accent, trackHoverBg: accent } }),
    },
  }
}

// branded returns the theme of a mode with accent colors; '' for the console's own.
export function branded(accent: string, accentDark: string): (inDark: boolean) => ThemeConfig {
  const themes = [
    accent ? tinted(light, theme.defaultAlgorithm, accent, '#ffffff', '#000000') : light,
    accentDark ? tinted(dark, theme.darkAlgorithm, accentDark, '#16181c', '#ffffff') : dark,
  ] as const
  return (inDark) => themes[inDark ? 1 : 0]
}
