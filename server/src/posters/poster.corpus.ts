import { deflateSync, crc32 } from 'node:zlib';
import { english } from '../languages/languages.ts';
import { posterTexts } from './poster-texts.ts';
import type { Poster } from './poster.ts';

/** A sample poster with a test's changes. */
export function samplePoster(changes: Partial<Poster> = {}): Poster {
  return {
    format: 'svg',
    size: 'poster',
    merchantName: 'Kairaba Books',
    logo: null,
    terminalName: 'Counter 1',
    code: '4718205',
    qrCodeUrl: 'https://pay.example.gm/pos/4718205-7KQ2',
    networks: [
      { id: 'wave', displayName: 'Wave' },
      { id: 'afrimoney', displayName: 'Afrimoney' },
      { id: 'qmoney', displayName: 'QMoney' },
      { id: 'aps', displayName: 'APS' },
    ],
    testMode: false,
    texts: posterTexts(english),
    language: english.code,
    ...changes,
  };
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** A PNG of one colour, `#rrggbb`; `pixelRows` writes fewer or more rows than the header says. */
export function plainPng(width: number, height: number, colour = '#c82828', pixelRows = height): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.alloc(1), Buffer.alloc(width * 3, colour.slice(1), 'hex')]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: pixelRows }, () => row)));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', pixels),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}
