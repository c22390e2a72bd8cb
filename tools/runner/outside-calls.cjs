/**
 * Preloaded into every process of a test run: writes down each connection that it tries to open to another machine, and each name
 * that it looks up for one. In the file of DALASI_OUTSIDE_CALLS, because a test may expect its call to fail.
 */
'use strict';
const { subscribe } = require('node:diagnostics_channel');
const { appendFileSync } = require('node:fs');
const { isIP } = require('node:net');

const path = process.env.DALASI_OUTSIDE_CALLS;
// Names that nobody can register (RFC 2606).
const isReserved = (name) => /(^|\.)(example|invalid|localhost|test|example\.(com|net|org))$/.test(name);
// An address, or the path of a socket.
const isThisMachine = (address) => /^(127\.|::1$|::ffff:127\.|0\.0\.0\.0$|::$|\/)/.test(address);

subscribe('net.client.socket', ({ socket }) => {
  const where = new Error('from').stack?.split('\n').slice(2).join('\n');
  const note = (address) => appendFileSync(path, `${address} ${process.argv.slice(1).join(' ')}\n${where}\n`);
  socket.on('connectionAttempt', (ip) => {
    if (!isThisMachine(ip)) note(ip);
  });
  socket.on('lookup', (error, ip, family, name) => {
    if (error && isIP(name) === 0 && !isReserved(name)) note(name);
  });
});
