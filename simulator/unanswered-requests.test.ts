import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import type { FastifyReply } from 'fastify';
import { UnansweredRequests } from './unanswered-requests.ts';

/** The parts of a reply that `keepOpen` uses. */
function replyTo(socket: Socket): FastifyReply {
  return { hijack: () => undefined, request: { socket } } as unknown as FastifyReply;
}

async function closed(): Promise<Socket> {
  const socket = new Socket();
  await new Promise((resolve) => {
    socket.once('close', resolve).destroy();
  });
  return socket;
}

test('callers that disconnect before they are held use no slot', async () => {
  const unanswered = new UnansweredRequests();
  for (let caller = 0; caller < 1_000; caller += 1) unanswered.keepOpen(replyTo(await closed()));
  const waiting = Array.from({ length: 1_001 }, () => new Socket());
  for (const socket of waiting) unanswered.keepOpen(replyTo(socket));
  assert.deepEqual(
    waiting.flatMap(({ destroyed }, index) => (destroyed ? [index] : [])),
    [0],
    'the thousand youngest wait, and the oldest was let go',
  );
  unanswered.close();
  assert.ok(waiting.every(({ destroyed }) => destroyed));
});
