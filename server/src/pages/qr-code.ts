import { encodeQR } from 'qr';
import { html } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';

// The standard's quiet zone; scanners miss codes that touch other things.
const borderModules = 4;
// A long launch link makes a large code, which must still fit beside its words.
const smallModulesFrom = 45;

/** A QR code as one SVG path, dark on white also in the dark look, because many scanners read it only so. */
export function qrCode(text: string, label: string): Html {
  // A screen is neither torn nor dirty, so the lowest correction does, with the fewest and largest modules.
  const rows = encodeQR(text, 'raw', { border: borderModules, ecc: 'low' });
  const size = rows.length;
  // Whole pixels a module: edges that fall between two pixels are drawn uneven.
  const pixels = size * (size > smallModulesFrom ? 4 : 5);
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" width="${pixels}" height="${pixels}" role="img" aria-label="${label}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path stroke="#000" d="${rows
    .map(rowPath)
    .join('')}"/></svg>`;
}

/** Each run of dark modules is one stroke along the middle of its row: a few bytes each. */
function rowPath(row: readonly boolean[], y: number): string {
  let path = '';
  let drawnTo = 0;
  for (let x = 0; x < row.length; x += 1) {
    if (row[x] !== true) continue;
    const start = x;
    while (row[x + 1] === true) x += 1;
    path += path === '' ? `M${start} ${y}.5` : `m${start - drawnTo} 0`;
    drawnTo = x + 1;
    path += `h${drawnTo - start}`;
  }
  return path;
}
