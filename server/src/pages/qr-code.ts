import { encodeQR } from 'qr';
import { html, type Html } from '../kit/html.ts';

// The standard's quiet zone, without which scanners miss the code.
const quietZoneModules = 4;
// A long launch URL makes a large code, which must still fit beside its text.
const smallModulesFrom = 45;

/** A QR code as one SVG path, with a label without markup, dark on white even in the dark colour scheme, because many scanners read nothing else. */
export function qrCode(text: string, label: Html | string): Html {
  // A screen is not damaged, so the lowest error correction suffices, with the fewest and largest modules.
  const rows = encodeQR(text, 'raw', { border: quietZoneModules, ecc: 'low' });
  const size = rows.length;
  // Whole pixels per module keep edges sharp.
  const pixels = size * (size > smallModulesFrom ? 4 : 5);
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" width="${pixels}" height="${pixels}" role="img" aria-label="${label}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path stroke="#000" d="${rows
    .map(rowPath)
    .join('')}"/></svg>`;
}

/** One stroke per run of dark modules, along the middle of its row. */
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
