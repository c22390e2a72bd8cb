import assert from 'node:assert/strict';
import { test } from 'node:test';
import decodeQR from 'qr/decode.js';
import { renderHtml } from '../kit/html.ts';
import { qrCode } from './qr-code.ts';

test('a decoder reads the QR code, up to the length of a long launch URL', () => {
  for (const text of ['https://pay.example/c/1', `https://pay.example/c/cos-1?a=1250&m=${'Kairaba%20'.repeat(20)}`]) {
    assert.equal(decodeQR(picture(renderHtml(qrCode(text, 'label')))), text);
  }
});

test('the label is escaped', () => {
  assert.match(renderHtml(qrCode('x', '"><script>')), /aria-label="&quot;&gt;&lt;script&gt;"/);
});

const scale = 4;

/** Draws the strokes of the SVG as a browser would, on white. */
function picture(svg: string): { width: number; height: number; data: Uint8ClampedArray } {
  const size = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]);
  const width = size * scale;
  const data = new Uint8ClampedArray(width * width * 4).fill(255);
  const strokes = /stroke="#000" d="([^"]+)"/.exec(svg)?.[1] ?? '';
  let x = 0;
  let y = 0;
  for (const [, command, first, second] of strokes.matchAll(/([Mmh])(\d+)(?: ([\d.]+))?/g)) {
    if (command === 'M') [x, y] = [Number(first), Math.floor(Number(second))];
    if (command === 'm') x += Number(first);
    if (command !== 'h') continue;
    for (let module = 0; module < Number(first); module += 1, x += 1) fillModule(data, { width, x, y });
  }
  return { width, height: width, data };
}

function fillModule(data: Uint8ClampedArray, { width, x, y }: { width: number; x: number; y: number }): void {
  for (let row = y * scale; row < (y + 1) * scale; row += 1) {
    for (let column = x * scale; column < (x + 1) * scale; column += 1) {
      data.fill(0, (row * width + column) * 4, (row * width + column) * 4 + 3);
    }
  }
}
