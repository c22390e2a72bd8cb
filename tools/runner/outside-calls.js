/**
 * Loaded into every process of a test run (JavaScript, because some tests start an old Node): writes down each connection that it
 * tries to open to another machine, and each name that it looks up for one. In a file, because a test may expect its call to fail.
 */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync } from 'node:fs';
import { isIP } from 'node:net';

const path = process.env['DALASI_OUTSIDE_CALLS'] ?? '';
// Names that nobody can register (RFC 2606).
const reservedName = /(^|\.)(example|invalid|localhost|test|example\.(com|net|org))$/;
// An address, or the path of a socket.
const thisMachine = /^(127\.|::1$|::ffff:127\.|0\.0\.0\.0$|::$|\/)/;

subscribe('net.client.socket', ({ socket }) => {
  // Its stack becomes text only when it is read.
  const origin = new Error('the socket was made here');
  const note = (address) => appendFileSync(path, `${address} ${process.argv.slice(1).join(' ')}\n${origin.stack}\n`);
  socket.on('connectionAttempt', (ip) => {
    if (!thisMachine.test(ip)) note(ip);
  });
  socket.on('lookup', (error, ip, family, name) => {
    if (error && isIP(name) === 0 && !reservedName.test(name)) note(name);
  });
});
