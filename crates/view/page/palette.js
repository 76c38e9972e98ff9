// Colours of themes, of bodies without a colour of their own, of plots and arrows.

// From sRGB to linear RGB.
export const toLinear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);

export const fromHex = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);

const BODY_COLOURS = ['#5b8db8', '#e3a857', '#79ae82', '#cf7369', '#9887b8', '#62b1b3', '#d6bf63',
  '#b78a68', '#8a9fb2', '#d08fae'].map(fromHex);

// The default colour of a shape.
const UNCHOSEN = [0.6, 0.6, 0.6];

export function isUnchosen(colour) {
  return UNCHOSEN.every((c, k) => Math.abs(colour[k] - c) < 1e-3);
}

export const bodyColour = (index) => BODY_COLOURS[index % BODY_COLOURS.length];

export const FORCE_COLOURS = { normal: fromHex('#1f6fd6'), friction: fromHex('#e4572e'), point: fromHex('#2b2f36') };

export const AXIS_COLOURS = ['#d94a4a', '#3f9a52', '#3b6fd1'].map(fromHex);

// From no pressure to the largest; lightness grows throughout, also for readers who do not tell red from green.
export const PRESSURE_COLOURS = ['#1b1464', '#5a2a9c', '#a8357f', '#e2603f', '#f5a623', '#fbe96b'].map(fromHex);

export const PLOT_COLOURS = ['#4477aa', '#ee6677', '#228833', '#ccbb44', '#66b5d9', '#aa3377'];

export const THEMES = {
  light: { ground: fromHex('#f4f5f7'), grid: 0.1, shadow: 0.75, ink: fromHex('#1c1f24') },
  dark: { ground: fromHex('#24272d'), grid: -0.16, shadow: 0.85, ink: fromHex('#e8eaee') },
};
