import mark from '../mark.svg'

// Mark is the site's logo, or else Reeve's.
export function Mark({ logo = '', size = 26 }: { logo?: string; size?: number }) {
  return <img src={logo || mark} alt="" height={size} style={{ maxWidth: logo ? size * 3 : size, objectFit: 'contain', flex: 'none' }} />
}

// setIcon shows the same in the browser's tab.
export function setIcon(logo = ''): void {
  const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]')
  if (icon) icon.href = logo || mark
}
