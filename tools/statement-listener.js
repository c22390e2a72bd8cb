/**
 * Loaded into every process of a test run by tools/record-statements.ts (JavaScript, because some tests start an old Node):
 * keeps each named statement that goes to the database, and writes them down when the process ends.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import pg from 'pg';

const folder = process.env['RECORDED_STATEMENTS'] ?? '';
/** @type {Map<string, string>} */
const texts = new Map();
const send = pg.Client.prototype.query;

pg.Client.prototype.query = function query(config, ...rest) {
  if (typeof config === 'object' && typeof config.name === 'string') texts.set(config.name, config.text);
  return send.call(this, config, ...rest);
};

process.on('exit', () => {
  if (texts.size === 0) return;
  writeFileSync(join(folder, `${process.pid}-${threadId}.json`), JSON.stringify([...texts]));
});
