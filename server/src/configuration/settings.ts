/** One setting of the server, read from the environment. docs/settings.md is generated from this table. */
export interface Setting {
  name: string;
  /** Its purpose, in a sentence or two. */
  description: string;
  /** As the operator would write it; null without a default. */
  default: string | null;
}

export const settings = [
  { name: 'PORT', description: 'The port to listen on.', default: '8080' },
  {
    name: 'HOST',
    description: 'The address to listen on. By default, a development server listens on this machine only.',
    default: '127.0.0.1 in development, 0.0.0.0 in production',
  },
  {
    name: 'PUBLIC_URL',
    description:
      'The address at which payers, merchants and networks reach the server, for example https://pay.example.gm; without a path.',
    default: 'http://localhost:PORT',
  },
  {
    name: 'INTERNAL_URL',
    description:
      'The address at which workers reach an API process, which runs the simulated networks and receives their callbacks. ' +
      'Only useful with ROLE=worker, and required there if PUBLIC_URL is not set.',
    default: 'PUBLIC_URL',
  },
  {
    name: 'DATABASE_URL',
    description:
      'The URL of a PostgreSQL 15 or later, with the role that owns the tables. The server migrates the database at the ' +
      'start and creates the serving role. By default the bundled PostgreSQL runs in the data directory.',
    default: null,
  },
  {
    name: 'APP_DATABASE_URL',
    description: 'The URL of the same database with the serving role. By default derived from DATABASE_URL.',
    default: null,
  },
  {
    name: 'DATABASE_CONNECTIONS',
    description: 'The maximum number of database connections of this process, 4 to 100.',
    default: '20',
  },
  {
    name: 'DATA_DIR',
    description: 'The directory of the bundled PostgreSQL and of the secrets in development.',
    default: 'data',
  },
  {
    name: 'BACKUP_DIR',
    description:
      'The directory for backups of the bundled PostgreSQL, best on another disk. The server archives its log there, at the ' +
      'latest after a minute; npm run operator -- backup create makes the backups.',
    default: null,
  },
  {
    name: 'CHAIN_DIR',
    description:
      'The directory for the daily heads of the hash chains over ledger and audit log, best on another machine. Without it they ' +
      'are in the log alone.',
    default: null,
  },
  {
    name: 'APP_ENV',
    description:
      'development or production. A development server creates a demo merchant, calls networks at ' +
      'loopback addresses only, and may call ' +
      'private addresses.',
    default: 'development with the bundled PostgreSQL, production with DATABASE_URL',
  },
  {
    name: 'NETWORK_DIAL_CODES',
    description:
      'What a payer dials to approve a payment where no prompt comes, for each network, for example afrimoney:*777#,qmoney:*345#. ' +
      'Shown on the payment’s page. Ask the networks for their codes.',
    default: null,
  },
  {
    name: 'NETWORK_LOGOS',
    description:
      'A folder with a PNG for each network, for example wave.png, shown instead of its two letters; read at the start. ' +
      'At most 200 kB and 2000 × 2000 pixels each. Use logos only as the networks allow you to.',
    default: null,
  },
  {
    name: 'RECEIPT_TEMPLATES',
    description:
      'A folder with your own templates of the messages that networks send to shops (docs/receipts.md); they go before those of Dalasi.',
    default: null,
  },
  {
    name: 'ROLE',
    description: 'all, api (serves requests) or worker (runs background work). The last two need DATABASE_URL.',
    default: 'all',
  },
  {
    name: 'SEAL_KEY',
    description:
      '32 random bytes in base64 or hex: encrypts secrets in the database. Development generates and stores one.',
    default: null,
  },
  {
    name: 'SEAL_KEYS_OLD',
    description:
      'Previous seal keys, separated by commas, to open values sealed with them. You can remove one once `secrets reseal` reports that nothing is sealed with it.',
    default: null,
  },
  {
    name: 'KEY_PEPPER',
    description: '32 random bytes in base64 or hex: API keys are hashed with it. Development generates and stores one.',
    default: null,
  },
  {
    name: 'SIGN_UP',
    description:
      'open: anybody may sign up at /dashboard/sign-up and create a business. closed: only the operator creates businesses.',
    default: 'open in development, closed in production',
  },
  {
    name: 'SMTP_URL',
    description:
      'The server for mails to people who sign in, for example smtps://user:password@mail.example.gm:465, or smtp://… with STARTTLS. ' +
      'Without it no mail is sent; a development server shows them at /simulator/mail.',
    default: null,
  },
  {
    name: 'MAIL_FROM',
    description: 'The sender of these mails, for example Dalasi <pay@example.gm>. Required with SMTP_URL.',
    default: null,
  },
  {
    name: 'OPERATOR_EMAIL',
    description:
      'The address of whoever operates this service: gets a mail when a live webhook endpoint has failed for a day or was disabled.',
    default: null,
  },
  {
    name: 'SYNTHETIC_PAYMENT_KEY',
    description:
      'A test key (sk_test_…) of a business that exists for nothing else. With it each worker makes a test payment of AMOUNT_MIN ' +
      'a minute at PUBLIC_URL, and shows in /metrics whether it was paid (Operations, Monitoring).',
    default: null,
  },
  {
    name: 'DEMO_WEBHOOK_URL',
    description:
      'The address for events of the demo merchant, at the first start in development. Later it has no effect; use PUT /v1/webhook-endpoints/{id}.',
    default: null,
  },
  {
    name: 'SIGNATURE_HEADER',
    description: 'The header of webhooks that carries the signature.',
    default: 'x-service-signature',
  },
  {
    name: 'INTENT_LIFETIME_MINUTES',
    description: 'How long a payer can pay a payment intent, 1 to 10080 minutes.',
    default: '30',
  },
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
    description: 'Requests a second of a live merchant, all its keys together; 0 means no limit.',
    default: '100',
  },
  {
    name: 'RATE_LIMIT_TEST',
    description: 'Requests a second of a test merchant, all its keys together; 0 means no limit.',
    default: '25',
  },
  {
    name: 'RATE_LIMIT_PAGES',
    description:
      'New payments a second from the page of one payment link or one counter, with a burst of ten times as many; 0 means no limit. ' +
      'The default allows a busy ticket sale; a counter makes less than one a second.',
    default: '5',
  },
  {
    name: 'RATE_LIMIT_KEY_PERCENT',
    description:
      'The share of its merchant’s requests a second that one of several keys may use, 1 to 100 percent, so that one faulty ' +
      'program leaves the rest to the others. The only key of a merchant may use all of them.',
    default: '80',
  },
  {
    name: 'RATE_LIMIT_KEYLESS',
    description:
      'Requests a second to the API without a valid key from one client address (for IPv6, one /64 network), with a burst ' +
      'of ten times as many; 0 means no limit. Each process counts for itself.',
    default: '10',
  },
  {
    name: 'RATE_LIMIT_CODES',
    description:
      'Wrong codes of counters a second, from all clients and at all processes together, with a burst of twenty times as ' +
      'many; one client address may try 12 a minute. 0 means no limit.',
    default: '5',
  },
  {
    name: 'TRUSTED_PROXIES',
    description:
      'Addresses and networks of your proxies, separated by commas, for example 10.0.0.5,10.1.0.0/16; also loopback, ' +
      'linklocal and uniquelocal. X-Forwarded-For is read from these proxies only.',
    default: null,
  },
  {
    name: 'CLOSING_NOTICE_SECONDS',
    description:
      'How long a stopping process responds with 503 at /readyz and still serves everything else, 0 to 15 seconds; a worker ' +
      'begins to stop at once. Set it to more than two check intervals of your load balancer.',
    default: '5 in production, 0 in development',
  },
  {
    name: 'WHATSAPP_ACCESS_TOKEN',
    description:
      'The access token of a system user. It enables WhatsApp notices of live payments at counters; the other WhatsApp ' +
      'settings without a default are then required.',
    default: null,
  },
  { name: 'WHATSAPP_PHONE_NUMBER_ID', description: 'The id of the number that sends the notices.', default: null },
  {
    name: 'WHATSAPP_TEMPLATE',
    description: 'The name of the approved template, which has seven parameters.',
    default: null,
  },
  { name: 'WHATSAPP_TEMPLATE_LANGUAGE', description: 'The language of the template.', default: 'en' },
  { name: 'WHATSAPP_APP_SECRET', description: 'The app secret, which verifies callbacks of WhatsApp.', default: null },
  {
    name: 'WHATSAPP_VERIFY_TOKEN',
    description: 'A text of your choice, which you also enter at WhatsApp with the callback URL.',
    default: null,
  },
  { name: 'WHATSAPP_API_VERSION', description: 'The version of the Cloud API.', default: '23.0' },
  { name: 'WHATSAPP_URL', description: 'The address of the Cloud API.', default: 'https://graph.facebook.com' },
  {
    name: 'TELEGRAM_BOT_TOKEN',
    description: 'The token of a bot. It enables Telegram notices for numbers that were shared with this bot.',
    default: null,
  },
  {
    name: 'TELEGRAM_WEBHOOK_SECRET',
    description: 'The secret_token of the bot’s webhook; required with TELEGRAM_BOT_TOKEN.',
    default: null,
  },
  { name: 'TELEGRAM_URL', description: 'The address of the Bot API.', default: 'https://api.telegram.org' },
  { name: 'LOG_LEVEL', description: 'debug, info, warn, error or silent.', default: 'info' },
] as const satisfies readonly Setting[];

export type SettingName = (typeof settings)[number]['name'];
