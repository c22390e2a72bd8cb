import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import type { FastifyReply } from 'fastify';
import { HeldRequests } from './held-requests.ts';

/** All that holding a request looks at. */
function replyOn(socket: Socket): FastifyReply {
  return { hijack: () => undefined, request: { socket } } as unknown as FastifyReply;
}

async function closed(): Promise<Socket> {
  const socket = new Socket();
  await new Promise((resolve) => {
    socket.once('close', resolve).destroy();
  });
  return socket;
}

test('callers that have gone before they are held take nobody’s place', async () => {
  const held = new HeldRequests();
  for (let caller = 0; caller < 1_000; caller += 1) held.hold(replyOn(await closed()));
  const patient = Array.from({ length: 1_001 }, () => new Socket());
  for (const socket of patient) held.hold(replyOn(socket));
  assert.deepEqual(
    patient.flatMap(({ destroyed }, index) => (destroyed ? [index] : [])),
    [0],
    'the thousand youngest wait, and the oldest was let go',
  );
  held.close();
  assert.ok(patient.every(({ destroyed }) => destroyed));
});
