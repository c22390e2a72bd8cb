import { spawn } from 'node:child_process';
import { creationBody } from './creation-statements.ts';
import { processorSeconds, residentMib } from './process-figures.ts';
import { runProgram } from './program.ts';
import { openWorkbench } from './workbench.ts';
import { readdirSync, readFileSync } from 'node:fs';
const kind = process.argv[2] ?? 'create';
const rounds = Number(process.argv[3] ?? 4);
const tool = process.argv[4];
const bench = await openWorkbench(() => {});
const pgCpu = (): number => {
  let sum = 0;
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const ppid = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')[1]);
      if (ppid === pgPid || Number(pid) === pgPid) sum += processorSeconds(Number(pid));
    } catch {}
  }
  return sum;
};
let pgPid = 0;
for (const pid of readdirSync('/proc')) {
  if (!/^\d+$/.test(pid)) continue;
  try {
    const ppid = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')[1]);
    if (ppid === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres')) pgPid = Number(pid);
  } catch {}
}
try {
  const service = await bench.startService();
  const { url, key, adminUrl, merchantId, pid } = service;
  const load = (seconds: number) => kind === 'create'
    ? runProgram<any>('http-load.ts', { url, key, path: '/v1/payments', body: creationBody, connections: 32, seconds } as any)
    : runProgram<any>('whole-load.ts', { url, key, adminUrl, merchantId, payers: 32, seconds } as any);
  await load(4);
  await service.settled();
  const { withAdminClient } = await import('../../server/src/database/admin-client.ts');
  if (tool === 'log') await withAdminClient(adminUrl, async (c) => { await c.query("ALTER SYSTEM SET log_statement='all'"); await c.query("ALTER SYSTEM SET log_line_prefix='%m [%p] '"); await c.query('SELECT pg_reload_conf()'); });
  for (let i = 0; i < rounds; i++) {
    const cpu = processorSeconds(pid);
    const pg = pgCpu();
    const st = tool === 'strace' ? spawn('strace', ['-f', '-c', '-p', String(pid)], { stdio: ['ignore', 'inherit', 'inherit'] }) : undefined;
    const r = await load(4);
    const n = kind === 'create' ? r.answered : r.paymentsPerSecond * 4;
    await service.settled();
    st?.kill('SIGINT');
    await new Promise((r) => setTimeout(r, 300));
    const us = ((processorSeconds(pid) - cpu) * 1e6) / n;
    const pgUs = ((pgCpu() - pg) * 1e6) / n;
    console.log(`${n} done, ${(n / 4).toFixed(0)}/s, service ${us.toFixed(0)} µs, postgres ${pgUs.toFixed(0)} µs, p50 ${r.p50Ms.toFixed(1)} p95 ${r.p95Ms.toFixed(1)} p99 ${r.p99Ms.toFixed(1)} rss ${residentMib(pid).toFixed(0)}`);
  }
  if (tool === 'trace') await withAdminClient(adminUrl, async (c) => {
    const { rows } = await c.query(`SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM n.created_at - i.created_at)*1000) AS sent,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM s.created_at - n.created_at)*1000) AS session,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM c.paid_at - s.created_at)*1000) AS booked,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM b.received_at - s.created_at)*1000) AS callback,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM b.handled_at - b.received_at)*1000) AS handled
      FROM payment_intents i JOIN charges c ON c.intent_id = i.id JOIN charge_notes n ON n.charge_id = c.id AND n.kind = 'sent_to_network'
      JOIN simulator.sessions s ON s.reference = c.reference JOIN network_inbox b ON convert_from(b.body,'UTF8') LIKE '%' || s.reference || '%' WHERE i.created_at > (SELECT max(created_at) - interval '3 seconds' FROM payment_intents)`);
    console.log(rows[0]);
  });
  if (tool === 'sec') await withAdminClient(adminUrl, async (c) => {
    const { rows } = await c.query(`SELECT date_trunc('second', created_at) + floor(extract(milliseconds from created_at)::int % 1000 / 250) * interval '250 ms' AS at, kind, count(*) FROM events GROUP BY 1, 2 ORDER BY 1, 2`);
    const m = new Map<string, Record<string, unknown>>();
    for (const r of rows) { const k = r.at.toISOString(); m.set(k, { ...m.get(k), [r.kind]: r.count }); }
    console.table(Object.fromEntries(m));
  });
  if (tool === 'log') { const { cpSync } = await import('node:fs'); const { execSync } = await import('node:child_process'); execSync('cp $(ls -d /tmp/dalasi-bench-*/data/postgres.log | tail -1) /tmp/pg.log'); }
} finally { await bench.close(); }
