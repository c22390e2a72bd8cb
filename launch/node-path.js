import { chooseNode } from './choose-node.js';

/**
 * Prints the path of the Node to run with. The scripts of package.json have the shell replace itself by it, so that no
 * process stands between npm and the program: signals, exit codes, input and output are the program's own.
 *
 *     node=$(node launch/node-path.js) && exec "$node" server/src/main.ts
 */
process.stdout.write(`${chooseNode()}\n`);
