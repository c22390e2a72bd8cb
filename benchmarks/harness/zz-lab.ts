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
} finally { await bench.close(); }
