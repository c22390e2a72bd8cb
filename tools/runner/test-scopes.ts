/**
 * Node's test runner finds the test that a line belongs to by hooks of every asynchronous resource. They cost a sixth of the
 * processor time of a test process: each promise of the service gets two entries of a map and a weak reference. Loaded before
 * `node:test`, this hands the runner an AsyncLocalStorage instead, which follows the same promises, timers and sockets.
 */
import type asyncHooks from 'node:async_hooks';
import { createRequire } from 'node:module';

type Init = NonNullable<asyncHooks.HookCallbacks['init']>;

const require = createRequire(import.meta.url);
const hooks = require('node:async_hooks') as typeof asyncHooks;
const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = hooks;

/** The id of the test, suite or reporter whose function runs. */
const running = new AsyncLocalStorage<number>();
const runningId = (): number => running.getStore() ?? 0;
let noteCreated: Init | undefined;

/** What the runner's tests, suites and reporter derive from. */
class Scope extends AsyncResource {
  constructor(type: string, options?: asyncHooks.AsyncResourceOptions) {
    super(type, options);
    noteCreated?.(this.asyncId(), type, runningId(), this);
  }

  override runInAsyncScope<This, Result>(
    body: (this: This, ...args: unknown[]) => Result,
    thisArg?: This,
    ...args: unknown[]
  ): Result {
    // Bound functions add no lines to the stack of a failure.
    const run: () => Result = body.bind(thisArg as This, ...args);
    return super.runInAsyncScope(running.run.bind(running, this.asyncId(), run) as () => Result);
  }
}

function createHookOfScopes({ init }: asyncHooks.HookCallbacks): asyncHooks.AsyncHook {
  const hook: asyncHooks.AsyncHook = {
    enable: () => {
      noteCreated = init;
      return hook;
    },
    disable: () => {
      noteCreated = undefined;
      return hook;
    },
  };
  return hook;
}

// The runner reads them once, when it is loaded. Everything loaded later gets Node's own.
Object.assign(hooks, { AsyncResource: Scope, createHook: createHookOfScopes, executionAsyncId: runningId });
try {
  require('node:test');
} finally {
  Object.assign(hooks, { AsyncResource, createHook, executionAsyncId });
}
