import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

// Runs in a network of its own (`unshare --net`), in which every address is this machine's. Calls each URL of the arguments after the
// first as another user without any guard of ours, and prints which addresses were reached. The first argument is what
// nftables loads before, or nothing.

/** `nobody`, which no file of ours belongs to. */
const callerId = 65_534;
const ports = [8_080, 5_432];

const [fence = '', ...urls] = process.argv.slice(2);

for (const args of ['link set lo up', 'route add local 0.0.0.0/0 dev lo', '-6 route add local ::/0 dev lo']) {
  execFileSync('ip', args.split(' '));
}
if (fence !== '') execFileSync('nft', ['-f', '-'], { input: fence });

const reached = new Set<string>();
const servers = await Promise.all(
  ports.map(async (port) => {
    const server = createServer((socket) => {
      const { address } = socket.address() as AddressInfo;
      reached.add(`${address.replace('::ffff:', '')} ${port}`);
      socket.on('error', () => {}).end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
    });
    await once(server.listen(port, '::'), 'listening');
    return server;
  }),
);

const call = `
for (const url of process.argv.slice(1)) {
  await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(2_000) }).catch(() => {});
}`;
const caller = spawn(process.execPath, ['--input-type=module', '--eval', call, ...urls], {
  uid: callerId,
  gid: callerId,
  cwd: '/',
  env: {},
  stdio: ['ignore', 'ignore', 'inherit'],
});
assert.deepEqual(await once(caller, 'exit'), [0, null]);
for (const server of servers) server.close();
process.stdout.write(JSON.stringify([...reached].toSorted()));
