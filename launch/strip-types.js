import { readFileSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * Lets this process import our TypeScript from below `node_modules`, where a packed install puts it and where Node
 * refuses to strip types by itself. Elsewhere Node does it, and this does nothing. Only for a Node of chooseNode.
 */
export function stripInstalledTypes() {
  if (!import.meta.url.includes('/node_modules/')) return;
  // Named imports would not load on the older Node that only starts ours.
  const { registerHooks, stripTypeScriptTypes } = nodeModule;
  withoutWarnings(() => stripTypeScriptTypes(''));
  registerHooks({
    load: (url, context, nextLoad) =>
      url.endsWith('.ts')
        ? {
            format: 'module',
            source: stripTypeScriptTypes(readFileSync(fileURLToPath(url), 'utf8')),
            shortCircuit: true,
          }
        : nextLoad(url, context),
  });
}

/** Node says once in each process that the function is experimental, which is no news to who runs the tool. */
function withoutWarnings(call) {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    call();
  } finally {
    process.emitWarning = emitWarning;
  }
}
