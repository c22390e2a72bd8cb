/** One setting of the server, read from the environment. docs/settings.md is written from this table. */
export interface Setting {
  name: string;
  /** What it is for, in a sentence or two. */
  description: string;
  /** As the operator would write it; null where there is none. */
  default: string | null;
}

export const settings = [
  { name: 'PORT', description: 'The port to listen on.', default: '8080' },
  {
    name: 'HOST',
    description: 'The address to listen on. Development listens on this machine only unless it is set.',
    default: '127.0.0.1 in development, 0.0.0.0 in production',
  },
  {
    name: 'PUBLIC_URL',
    description:
      'Where payers, merchants and networks reach the server, for example https://pay.example.gm; without a path.',
    default: 'http://localhost:PORT',
  },
  {
    name: 'INTERNAL_URL',
    description:
      'Where workers reach an API process: the simulated networks live there, and send their callbacks there. ' +
      'Only needed when ROLE is worker.',
    default: 'PUBLIC_URL',
  },
  {
    name: 'DATABASE_URL',
    description:
      'A PostgreSQL 15 or later, as the owner of the tables: it is migrated at the start and provides the serving ' +
      'role. Without it a PostgreSQL of our own runs in the data directory.',
    default: null,
  },
  {
    name: 'APP_DATABASE_URL',
    description: 'The same database as the serving role. Made from DATABASE_URL unless it is set.',
    default: null,
  },
  {
    name: 'DATABASE_CONNECTIONS',
    description: 'Database connections of this process at most, 4 to 100.',
    default: '20',
  },
  {
    name: 'DATA_DIR',
    description: 'Where the embedded PostgreSQL and the secrets of development live.',
    default: 'data',
  },
  {
    name: 'APP_ENV',
    description:
      'development or production. Development makes a demo merchant, has no live networks and may call private ' +
      'addresses.',
    default: 'development with the embedded PostgreSQL, production with DATABASE_URL',
  },
  {
    name: 'ROLE',
    description: 'all, api (answers requests) or worker (does what is due). The last two need DATABASE_URL.',
    default: 'all',
  },
  {
    name: 'SEAL_KEY',
    description: '32 random bytes in base64 or hex: seals secrets in the database. Development makes and keeps one.',
    default: null,
  },
  {
    name: 'SEAL_KEYS_OLD',
    description:
      'Other seal keys, separated by commas: they open what they sealed. One may go when `secrets reseal` says that nothing is sealed with it.',
    default: null,
  },
  {
    name: 'KEY_PEPPER',
    description:
      '32 random bytes in base64 or hex: API keys are stored hashed under it. Development makes and keeps one.',
    default: null,
  },
  {
    name: 'DEMO_WEBHOOK_URL',
    description:
      'At the first start in development: where the demo merchant’s events go. Later it changes nothing; use PUT /v1/webhook-endpoints/{id}.',
    default: null,
  },
  {
    name: 'SIGNATURE_HEADER',
    description: 'The header that carries a webhook’s signature.',
    default: 'x-service-signature',
  },
  { name: 'INTENT_LIFETIME_MINUTES', description: 'How long a payer has, 1 to 10080 minutes.', default: '30' },
  {
    name: 'SETTLEMENT_DELAY_HOURS',
    description:
      'How long collected money waits before it can be paid out, 0 to 720 hours. For a reserve of new merchants’ income see Operations.',
    default: '0',
  },
  { name: 'AMOUNT_MIN', description: 'The smallest amount of a payment, in dalasi.', default: '1' },
  { name: 'AMOUNT_MAX', description: 'The largest amount of a payment, in dalasi.', default: '1000000' },
  {
    name: 'RATE_LIMIT_LIVE',
    description: 'Requests a second of a live merchant, all its keys together; 0 is no limit.',
    default: '100',
  },
  {
    name: 'RATE_LIMIT_TEST',
    description: 'Requests a second of a test merchant, all its keys together; 0 is no limit.',
    default: '25',
  },
  {
    name: 'RATE_LIMIT_PAGES',
    description:
      'New payments a second from the page of one payment link or one counter, ten times as many at once; 0 is no limit. ' +
      'The default is a busy ticket sale; a counter makes less than one a second.',
    default: '5',
  },
  {
    name: 'RATE_LIMIT_KEY_PERCENT',
    description:
      'How much of its merchant’s requests a second one key may send where the merchant has several, 1 to 100 percent: one ' +
      'program gone wild leaves the rest to the others. A merchant’s only key may use all.',
    default: '80',
  },
  {
    name: 'RATE_LIMIT_KEYLESS',
    description:
      'Requests a second to the API without a valid key from one client address (of IPv6, one /64 network), ten times as ' +
      'many at once; 0 is no limit. Each process counts for itself.',
    default: '10',
  },
  {
    name: 'RATE_LIMIT_CODES',
    description:
      'Wrong codes of counters a second, from everywhere together and at all processes, twenty times as many at once; one ' +
      'client address may guess 12 a minute. 0 is no limit.',
    default: '5',
  },
  {
    name: 'TRUSTED_PROXIES',
    description:
      'Addresses and networks of your proxies, separated by commas, for example 10.0.0.5,10.1.0.0/16; also loopback, ' +
      'linklocal and uniquelocal. Their X-Forwarded-For tells the client’s address; nobody else’s is read.',
    default: null,
  },
  {
    name: 'CLOSING_NOTICE_SECONDS',
    description:
      'How long a process that is told to end says 503 at /readyz and still serves everything else, 0 to 15 seconds; a worker ' +
      'never waits. Longer than two checks of your load balancer.',
    default: '5 in production, 0 in development',
  },
  {
    name: 'WHATSAPP_ACCESS_TOKEN',
    description:
      'Switches WhatsApp on for notices of live payments at counters: the access token of a system user. The others of ' +
      'its settings are then required, but for those with a default.',
    default: null,
  },
  { name: 'WHATSAPP_PHONE_NUMBER_ID', description: 'The id of the number that writes.', default: null },
  { name: 'WHATSAPP_TEMPLATE', description: 'The name of the approved template of seven parts.', default: null },
  { name: 'WHATSAPP_TEMPLATE_LANGUAGE', description: 'The language of the template.', default: 'en' },
  { name: 'WHATSAPP_APP_SECRET', description: 'Verifies what WhatsApp calls us with.', default: null },
  {
    name: 'WHATSAPP_VERIFY_TOKEN',
    description: 'A word of your own, entered at WhatsApp beside the address of its calls.',
    default: null,
  },
  { name: 'WHATSAPP_API_VERSION', description: 'The version of the Cloud API.', default: '23.0' },
  { name: 'WHATSAPP_URL', description: 'Where the Cloud API is.', default: 'https://graph.facebook.com' },
  {
    name: 'TELEGRAM_BOT_TOKEN',
    description: 'Switches Telegram on for the same, for numbers that were shared with this bot.',
    default: null,
  },
  {
    name: 'TELEGRAM_WEBHOOK_SECRET',
    description: 'The secret_token that the bot’s webhook was set with; required with the bot.',
    default: null,
  },
  { name: 'TELEGRAM_URL', description: 'Where the Bot API is.', default: 'https://api.telegram.org' },
  { name: 'LOG_LEVEL', description: 'debug, info, warn, error or silent.', default: 'info' },
] as const satisfies readonly Setting[];

export type SettingName = (typeof settings)[number]['name'];
