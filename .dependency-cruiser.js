import { Visitor } from '@swc/core/Visitor.js';

// The parser reads `using x = …`, but the visitor that comes with it stops there with an error.
const { visitStatement } = Visitor.prototype;
Visitor.prototype.visitStatement = function visitStatementOrUsing(statement) {
  if (statement.type !== 'UsingDeclaration') return visitStatement.call(this, statement);
  this.visitVariableDeclarators(statement.decls);
  return statement;
};

// Which part may know which (docs/architecture.md, "Layout"). From the bottom up: a part imports from lower lines only,
// and the parts of one line do not know each other.
export const levels = [
  ['kit'],
  ['api', 'database', 'languages'],
  ['ledger', 'events', 'networks', 'keyring', 'audit', 'backups'],
  [
    'merchants',
    'cases',
    'operators',
    'rail-accounts',
    'receipts',
    'accounts',
    'mail',
    'customers',
    'sub-accounts',
    'terminals',
    'request-log',
    'chain',
  ],
  ['payments', 'transfers', 'debts'],
  [
    'settlement',
    'refunds',
    'reconciliation',
    'reports',
    'links',
    'posters',
    'transactions',
    'webhooks',
    'notifications',
  ],
  ['http', 'worker', 'pages'],
  ['portal'],
  ['dashboard', 'console'],
];

// Above all levels: what reads the settings, puts the parts together, and runs them as a process or as a command. Settings are read
// there and handed down as values.
const top = '^server/src/((app|configuration|demo|operator|process)/|[^/]+$)';

const isTest = '[.](test|corpus)[.]ts$';
const queries = '/queries([.]ts$|/)';

/** Folders of server/src, as the start of a path; `|` between them. */
function inside(folders) {
  return `^server/src/(${folders.join('|')})/`;
}

const levelRules = levels.flatMap((level, height) => {
  const above = levels.slice(height + 1).flat();
  const rules = [
    {
      name: `imports-go-down-from-${level.join('-')}`,
      comment: `A part imports from the levels below it only. Above this one: ${[...above, 'app', 'configuration', 'demo', 'operator', 'process'].join(', ')}.`,
      severity: 'error',
      from: { path: inside(level), pathNot: isTest },
      to: { path: above.length > 0 ? [inside(above), top] : top },
    },
  ];
  if (level.length > 1) {
    rules.push({
      name: `strangers-${level.join('-')}`,
      comment:
        'The parts of one level do not know each other: pass a function or a value in from above, or move what both need down.',
      severity: 'error',
      from: { path: inside(level), pathNot: isTest },
      to: { path: inside(level), pathNot: '^server/src/$1/' },
    });
  }
  return rules;
});

const known = `(${levels.flat().join('|')}|app|configuration|demo|operator|process)/|[^/]+$`;

// What the command-line tool shares with the service: plain functions without a database.
const wire =
  '^server/src/(kit/|events/kinds[.]|webhooks/(envelope|signature|endpoint-secret)[.]|merchants/api-key[.]|database/embedded/data-directory[.])';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...levelRules,
    {
      name: 'every-folder-has-a-level',
      comment: 'A new folder of server/src gets its place in the table at the top of .dependency-cruiser.js first.',
      severity: 'error',
      from: { path: `^server/src/(?!${known})` },
      to: {},
    },
    {
      name: 'every-imported-folder-has-a-level',
      comment: 'A new folder of server/src gets its place in the table at the top of .dependency-cruiser.js first.',
      severity: 'error',
      from: {},
      to: { path: `^server/src/(?!${known})` },
    },
    {
      name: 'queries-are-private',
      comment: "A module's SQL is its own: call one of its functions instead. Its own tests may read its queries.",
      severity: 'error',
      from: { path: '^server/src/([^/]+)/' },
      to: { path: `^server/src/[^/]+.*${queries}`, pathNot: '^server/src/$1/' },
    },
    {
      name: 'queries-are-private-to-modules',
      comment: "A module's SQL is its own: call one of its functions instead.",
      severity: 'error',
      from: { pathNot: '^server/src/[^/]+/' },
      to: { path: `^server/src/[^/]+.*${queries}` },
    },
    {
      name: 'who-calls-the-outside',
      comment: 'Only networks (to a network) and webhooks (to a merchant) open connections, through kit/outbound.',
      severity: 'error',
      from: { path: '^server/src/', pathNot: ['^server/src/(networks|webhooks)/', '^server/src/kit/outbound', isTest] },
      to: { path: ['(^|/)node_modules/undici/', '^(node:)?(https|http2|tls|dgram)$', '^undici$'] },
    },
    {
      name: 'who-speaks-http',
      comment: 'Requests to the outside go through kit/outbound; only http/ and main listen. Types are free.',
      severity: 'error',
      from: {
        path: '^server/src/',
        pathNot: [
          '^server/src/(networks|webhooks|http)/',
          '^server/src/kit/outbound',
          '^server/src/main[.]ts$',
          isTest,
        ],
      },
      to: { path: '^(node:)?http$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'who-speaks-to-postgres',
      comment:
        'The driver is behind kit/db.ts and kit/notifier.ts; database/ starts and migrates the server, tests, benchmarks, the recorder of statements and what describes the schema look at it from outside.',
      severity: 'error',
      from: {
        pathNot: [
          '^server/src/kit/(db|db-driver|db-errors|notifier)[.]',
          '^server/src/database/',
          '^(test|benchmarks)/',
          '^tools/(statement-listener|schema/)',
          'node_modules',
        ],
      },
      to: { path: ['(^|/)node_modules/(@types/)?pg/', '^pg$'] },
    },
    {
      name: 'who-looks-names-up',
      comment:
        'Names that others chose are looked up by kit/name-resolver.ts, which holds no thread; the command-line tool runs for one person.',
      severity: 'error',
      from: { path: '^server/', pathNot: ['^server/src/kit/name-resolver[.]'] },
      to: { path: '^(node:)?dns(/promises)?$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nothing-from-the-workshop',
      comment: 'The service does not import tests, tools, benchmarks or packages that are not installed in production.',
      severity: 'error',
      from: { path: '^(server/src|cli)/', pathNot: isTest },
      to: { path: ['^(test|tools|benchmarks)/', isTest] },
    },
    {
      name: 'the-service-needs-no-client',
      comment: 'The command-line tool is a client of the API. The service does not know it.',
      severity: 'error',
      from: { path: '^server/src/' },
      to: { path: '^cli/' },
    },
    {
      name: 'the-simulator-is-another-program',
      comment:
        'The simulated networks stand in for somebody else: they know the kit, errors and schema checks of the API, the frame of pages and the contract that their connectors speak.',
      severity: 'error',
      from: { path: '^simulator/', pathNot: isTest },
      to: { path: '^server/src/', pathNot: '^server/src/((kit|api)/|pages/[^/]+$|networks/contract[.])' },
    },
    {
      name: 'who-knows-the-simulator',
      comment: 'Only its connectors know the simulator, and what starts it beside the service.',
      severity: 'error',
      from: {
        path: '^server/src/',
        pathNot: ['^server/src/(app|process)/', '^server/src/networks/[^/]+/test-account', isTest],
      },
      to: { path: '^simulator/' },
    },
    {
      name: 'the-client-asks-the-api',
      comment:
        'The command-line tool knows what goes over the wire (kinds, bodies, signatures, the form of a key) and asks the API for the rest.',
      severity: 'error',
      from: { path: '^cli/', pathNot: isTest },
      to: { path: '^server/src/', pathNot: wire },
    },
    {
      name: 'no-development-packages',
      comment: 'What the service imports stands under "dependencies" in package.json.',
      severity: 'error',
      from: { path: '^server/src/', pathNot: isTest },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-cycles',
      comment: 'Two files that need each other, also for types, are one file, or need a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    // TypeScript 7 has no interface that tools could load: without this parser nothing at all is found.
    parser: 'swc',
    // Types count: a level that knows another's types knows the other.
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
    },
    skipAnalysisNotInRules: true,
  },
};
