import { crc32, deflateSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

/** The icons of the screen as an app: the tab's icon in the sizes that tablets ask for. */
export const appIcons = [180, 192, 512].map((size) => ({ size, path: `/dashboard/assets/icon-${size}.png` }));

const yearSeconds = 365 * 24 * 3600;

/** Anybody may read them: a system that installs an app sends no cookies. */
export function appIconRoutes(app: FastifyInstance): void {
  for (const { path, size } of appIcons) {
    let png: Buffer | undefined;
    app.get(path, { schema: { hide: true } }, async (_request, reply) => {
      png ??= drawIcon(size);
      return reply.type('image/png').header('cache-control', `public, max-age=${yearSeconds}`).send(png);
    });
  }
}

const [ground, ink] = [
  [0x0b, 0x6a, 0x55],
  [0xff, 0xff, 0xff],
] as const;
const grid = 16;
const strokeWidth = 1.6;

/** A Đ, as the tab's icon has it (pages/icons.ts), without rounded corners: each system cuts its own. */
function drawIcon(size: number): Buffer {
  const scale = grid / size;
  const rows: Buffer[] = [];
  for (let y = 0; y < size; y += 1) {
    const row = Buffer.alloc(1 + size * 3);
    for (let x = 0; x < size; x += 1) {
      const distance = distanceToLetter((x + 0.5) * scale, (y + 0.5) * scale);
      // One pixel wide, so that edges are smooth.
      const cover = Math.min(1, Math.max(0, (strokeWidth / 2 - distance) / scale + 0.5));
      for (const [channel, from] of ground.entries()) {
        row[1 + x * 3 + channel] = Math.round(from + ((ink[channel] ?? from) - from) * cover);
      }
    }
    rows.push(row);
  }
  return pngOf(size, Buffer.concat(rows));
}

/** On the grid of the tab's icon: a bow around 8,8 with radius 4, its three straight lines, and the bar. */
function distanceToLetter(x: number, y: number): number {
  const bow = x >= 8 ? Math.abs(Math.hypot(x - 8, y - 8) - 4) : Number.POSITIVE_INFINITY;
  const across = (fromX: number, toX: number, atY: number) =>
    Math.hypot(x - Math.min(toX, Math.max(fromX, x)), y - atY);
  const stem = Math.hypot(x - 5, y - Math.min(12, Math.max(4, y)));
  return Math.min(bow, across(5, 8, 4), across(5, 8, 12), stem, across(3, 9, 8));
}

/** Eight bits each of red, green and blue, with one filter byte before each row. */
function pngOf(size: number, rows: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
