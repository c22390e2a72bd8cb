import { ProcessWorld } from '/work/main/test/harness/process.ts';
import { startService } from '/work/main/test/harness/service.ts';
import { CrashClock } from '/work/main/test/harness/crash-clock.ts';
const t0 = performance.now();
const at = new Date('2026-11-20T12:00:00.000Z');
const clock = new CrashClock(at);
const s = await startService({ clock, settings: { LOG_LEVEL: 'error' }});
console.log('in-process start incl cluster', performance.now() - t0);
const t1 = performance.now();
const s2 = await startService({ clock, database: s.database, settings: { LOG_LEVEL: 'error', ROLE: 'worker', APP_DATABASE_URL: s.database.appUrl, INTERNAL_URL: s.url }});
console.log('2nd in-process', performance.now() - t1);
await s2.stop();
const world = new ProcessWorld();
for (let i = 0; i < 5; i++) {
  const t = performance.now(); const c0 = process.resourceUsage();
  const p = world.start([process.execPath, 'test/harness/crashing-service.ts'], { PORT: '0', APP_ENV: 'development', LOG_LEVEL: 'error', CRASH_NOW: at.toISOString(), APP_DATABASE_URL: s.database.appUrl, ROLE: 'worker', INTERNAL_URL: s.url, SEAL_KEY: 'f'.repeat(64), KEY_PEPPER: 'e'.repeat(64) , ...(process.env.CC ? {NODE_COMPILE_CACHE: process.env.CC}: {})});
  await p.printed(/Ready/);
  console.log('child', i, performance.now() - t);
  if (i == 4) { const { readFileSync } = await import('node:fs'); console.log(readFileSync(`/proc/${p.pid}/stat`, 'utf8').split(' ').slice(13, 15)); console.log(p.stdout()); }
  p.signal('SIGKILL'); await p.ended;
}
await world.close();
await s.stop();
