import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';

const gibibyte = 1024 ** 3;

/** The machine, in one line. */
export function describeMachine(postgresVersion: string): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? 'unknown';
  const memoryGib = Math.round(totalmem() / gibibyte);
  return `${processors.length} cores (${model}), ${memoryGib} GiB, ${process.platform} ${process.arch}, Node ${process.versions.node}, PostgreSQL ${postgresVersion}`;
}

/** The measured commit, marked when files differ from it. */
export function describeCommit(): string {
  try {
    const commit = git('rev-parse', '--short', 'HEAD');
    const isChanged = git('status', '--porcelain', '--', 'server', 'package-lock.json') !== '';
    return isChanged ? `${commit} with changes` : commit;
  } catch {
    return 'unknown';
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, {
    cwd: import.meta.dirname,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}
