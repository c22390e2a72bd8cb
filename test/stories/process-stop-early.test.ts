import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { startDatabaseServer } from '../harness/database-server.ts';
import { makeOldNode } from '../harness/old-node.ts';
import { ProcessWorld, type TestProcess } from '../harness/process.ts';
import { assertStopsCleanly, processesIn, readyAt } from '../harness/program.ts';
import { eventually } from '../harness/eventually.ts';

let world: ProcessWorld;

before(() => {
  world = new ProcessWorld();
});

after(() => world.close());

describe('a stop during the start', () => {
  test('while the database is created: the service ends, and the next start begins anew', async () => {
    const dataDirectory = world.newDataDirectory();
    const service = world.startService({ DATA_DIR: dataDirectory });
    await eventually('initdb has begun', () => existsSync(dataDirectory) && readdirSync(dataDirectory).some(isDraft));
    service.signal('SIGTERM');
    assert.deepEqual(await service.ended, { code: 0, signal: null }, service.stderr());
    // On a busy machine the service ends initdb instead of waiting for it.
    await eventually('nobody is left behind', () => processesIn(dataDirectory).length === 0);
    const again = world.startServiceInProcess({ DATA_DIR: dataDirectory });
    await readyAt(again);
    again.stop();
    await assertStopsCleanly({ service: again, dataDirectory });
  });

  test('while another process migrates: the service does not wait for it', async () => {
    const databases = await startDatabaseServer();
    const url = await databases.createDatabase();
    await withAdminClient(url, async (client) => {
      await client.query('SELECT pg_advisory_lock($1)', ['7310274586223301']);
      const dataDirectory = world.newDataDirectory();
      const service = world.startService({ DATA_DIR: dataDirectory, DATABASE_URL: url, APP_ENV: 'development' });
      await service.printed(/^Another process is migrating the database; waiting for it\.$/m);
      service.signal('SIGINT');
      await assertStopsCleanly({ service, dataDirectory });
    });
    await databases.stop();
  });
});

describe('npm start', () => {
  /** Starts a service with npm, from a folder and with settings, and stops it. */
  async function startAndEnd(
    end: (npm: TestProcess) => void,
    { settings, ...options }: { cwd?: string; settings?: Record<string, string> } = {},
  ): Promise<void> {
    const dataDirectory = await world.usedDataDirectory();
    // npm now and then looks for its own updates and prints a notice.
    const npmSettings = { npm_config_update_notifier: 'false', ...settings };
    const serviceSettings = { DATA_DIR: dataDirectory, PORT: '0', LOG_LEVEL: 'error' };
    const npm = world.start(['npm', 'start'], { ...serviceSettings, ...npmSettings }, { ownGroup: true, ...options });
    await readyAt(npm);
    end(npm);
    await assertStopsCleanly({ service: npm, dataDirectory });
  }

  test('Ctrl-C, which reaches every process: npm waits, exits with 0 and leaves no process', () =>
    startAndEnd((npm) => npm.signalGroup('SIGINT')));

  test('SIGTERM to npm alone: the same, also where npm links no Node and the machine’s is 20', () =>
    startAndEnd((npm) => npm.signal('SIGTERM'), installWithoutLinks()));
});

/** This repository as npm 10 installs it on a machine with Node 20: everything installed, nothing linked in `.bin`. */
function installWithoutLinks(): { cwd: string; settings: Record<string, string> } {
  const repository = join(import.meta.dirname, '../..');
  const folder = dirname(world.newDataDirectory());
  const cwd = join(folder, 'dalasi');
  mkdirSync(cwd);
  for (const name of ['package.json', '.npmrc', 'launch', 'server'])
    symlinkSync(join(repository, name), join(cwd, name));
  return { cwd, settings: { PATH: `${makeOldNode(folder)}:${process.env['PATH'] ?? ''}` } };
}

function isDraft(name: string): boolean {
  return name.startsWith('postgres.new-');
}
