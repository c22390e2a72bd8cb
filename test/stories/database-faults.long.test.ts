import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { elapse } from '../harness/elapse.ts';
import { eventually } from '../harness/eventually.ts';
import { FragileService } from '../harness/fragile-service.ts';
import { openConnections } from '../harness/open-connections.ts';
import { ProcessWorld } from '../harness/process.ts';
import { SteadyLoad } from '../harness/steady-load.ts';
import type { LinkFault } from '../harness/weak-link.ts';

// Merchants charge and pay out without a pause while the database or the machine fails. Whatever was acknowledged exists, once, and
// the networks' books agree with ours.

const kills = 50;
const faultMs = 90_000;
// From the end of a fault to the next acknowledged request.
const recoveryMaxMs = 30_000;

let world: ProcessWorld;

before(() => {
  world = new ProcessWorld();
});

after(() => world.close());

function loadOn({ url, key }: FragileService, clients = 8): SteadyLoad {
  return new SteadyLoad({ url, key, clients, pauseMs: 20 });
}

/** Waits until requests are acknowledged again, and returns how long that took. */
async function untilServed(load: SteadyLoad): Promise<number> {
  const began = performance.now();
  const before = load.acknowledged;
  await eventually('a request is acknowledged', () => load.acknowledged > before + 8);
  return performance.now() - began;
}

test(`PostgreSQL is killed ${kills} times under load: nothing acknowledged is lost or done twice`, async (context) => {
  const fragile = await FragileService.start(world);
  const load = loadOn(fragile);
  let longestMs = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    await untilServed(load);
    await fragile.killDatabase();
    await fragile.startDatabase();
    longestMs = Math.max(longestMs, await untilServed(load));
  }
  await load.stop();
  await fragile.verify(load);
  await fragile.stop();
  context.diagnostic(
    `${load.acknowledged} acknowledged, served again after at most ${(longestMs / 1_000).toFixed(1)} s`,
  );
  assert.ok(longestMs < recoveryMaxMs, `${longestMs} ms`);
});

const faults: Record<string, LinkFault> = {
  'slow and uneven': { delayMs: 20 },
  narrow: { bytesPerSecond: 200_000 },
  'cut into pieces of three bytes': { sliceBytes: 3 },
  'reset now and then': { resetsPercent: 1 },
  'cut at the reply to COMMIT': { lostCommitsPercent: 5 },
  silent: { isSilent: true },
};

test('a connection to the database with faults costs no money, and ends within 30 seconds of them', async (context) => {
  const fragile = await FragileService.start(world);
  const load = loadOn(fragile);
  for (const [name, fault] of Object.entries(faults)) {
    const before = load.acknowledged;
    fragile.link.set(fault);
    await elapse(fault.isSilent ? faultMs / 3 : faultMs);
    fragile.link.set({});
    const recoveredMs = await untilServed(load);
    const served = load.acknowledged - before;
    context.diagnostic(`${name}: ${served} acknowledged, served again after ${(recoveredMs / 1_000).toFixed(1)} s`);
    assert.ok(recoveredMs < recoveryMaxMs, `${name}: ${recoveredMs} ms`);
  }
  const { resets, commits } = fragile.link.broken;
  context.diagnostic(`${resets} connections reset, ${commits} replies to COMMIT lost`);
  assert.ok(resets > 10 && commits > 10, 'the faults happened');
  await load.stop();
  await fragile.verify(load);
  await fragile.stop();
});

test('a full disk of the database is refused with 503, and costs nothing that was acknowledged', async (context) => {
  // A file system of its own, which only the administrator of the machine may create.
  const mounted = dirname(world.newDataDirectory());
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300m,mode=0755', 'tmpfs', mounted]);
  try {
    const databaseDirectory = join(mounted, 'data');
    mkdirSync(databaseDirectory);
    const fragile = await FragileService.start(world, { databaseDirectory });
    const load = loadOn(fragile);
    await untilServed(load);
    const filler = join(mounted, 'filler');
    const { bavail, bsize } = statfsSync(mounted);
    const fill = (bytes: number): void => writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
    fill(bavail * bsize - 2_000_000);
    const isReady = async (): Promise<boolean> => (await fetch(`${fragile.url}/readyz`)).status === 200;
    await eventually('the disk is full and the service unready', async () => !(await isReady()));
    const refusedBefore = load.responses.get('503') ?? 0;
    await eventually('requests are refused', () => (load.responses.get('503') ?? 0) > refusedBefore + 20);
    rmSync(filler);
    // Without space for its log PostgreSQL ends itself, as its makers intend; who runs it starts it again.
    if (fragile.hasDatabaseEnded()) await fragile.startDatabase();
    const recoveredMs = await untilServed(load);
    await eventually('the service is ready', isReady);
    await load.stop();
    await fragile.verify(load);
    await fragile.stop();
    const statuses = [...load.responses].map(([status, count]) => `${count} × ${status}`).join(', ');
    context.diagnostic(`${statuses}; served again after ${(recoveredMs / 1_000).toFixed(1)} s`);
    assert.ok(recoveredMs < recoveryMaxMs, `${recoveredMs} ms`);
  } finally {
    execFileSync('umount', ['-l', mounted]);
  }
});

test('a process that may open no more files refuses, and goes on once it may again', async (context) => {
  const fragile = await FragileService.start(world, { shell: 'ulimit -n 128' });
  const load = loadOn(fragile);
  await untilServed(load);
  const held = await openConnections(fragile.url, 400);
  const before = load.acknowledged;
  await elapse(10_000);
  context.diagnostic(`${load.acknowledged - before} acknowledged in 10 s beside 400 idle connections to 128 files`);
  held.close();
  const recoveredMs = await untilServed(load);
  await load.stop();
  await fragile.verify(load);
  await fragile.stop();
  assert.ok(recoveredMs < recoveryMaxMs, `${recoveredMs} ms`);
});
