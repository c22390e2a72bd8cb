import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readConfig } from './config.ts';
import { StartError } from '../kit/start-error.ts';
import { misspeltSettings } from './misspelt-settings.ts';
import { settings } from './settings.ts';

const key = 'ab'.repeat(32);
const database = 'postgresql://owner:secret@db.example/dalasi';
const production = { APP_ENV: 'production', SEAL_KEY: key, KEY_PEPPER: key, PUBLIC_URL: 'https://pay.example.gm' };

function refuses(environment: Record<string, string>, sentence: RegExp): void {
  assert.throws(
    () => readConfig(environment),
    (error) => {
      assert(error instanceof StartError);
      assert.match(error.message, sentence);
      assert.doesNotMatch(error.message, /[.] [A-Z]|secret/, 'one sentence, without what may be a secret');
      return true;
    },
  );
}

const wrong = [
  ['PORT', '80x', /^PORT must be a whole number from 0 to 65535, not "80x"\.$/],
  ['PORT', '65536', /^PORT must be a whole number/],
  ['PUBLIC_URL', 'pay.example.gm', /^PUBLIC_URL must be an address that begins with http:\/\/ or https:\/\/\.$/],
  ['PUBLIC_URL', 'https://example.gm/pay', /^PUBLIC_URL must be an address without path and user name, for example/],
  ['PUBLIC_URL', 'https://example.gm/?pay', /^PUBLIC_URL must be an address without path/],
  ['PUBLIC_URL', 'https://secret:secret@example.gm', /^PUBLIC_URL must be an address without path and user name/],
  ['INTERNAL_URL', 'ftp://example.gm', /^INTERNAL_URL must be an address/],
  ['DATABASE_URL', 'mysql://u:secret@localhost/x', /^DATABASE_URL must be an address that begins with postgres:/],
  ['DATABASE_URL', 'postgresql://u:secret50%@localhost/x', /^DATABASE_URL contains a % .* write it as %25\.\n/],
  ['APP_DATABASE_URL', 'localhost', /^APP_DATABASE_URL must be an address/],
  ['DATABASE_CONNECTIONS', '2', /^DATABASE_CONNECTIONS must be a whole number from 4 to 100/],
  ['APP_ENV', 'prod', /^APP_ENV must be development or production, not "prod"\.$/],
  ['ROLE', 'cron', /^ROLE must be all, api or worker, not "cron"\.$/],
  ['SEAL_KEY', 'secret', /^SEAL_KEY must be 32 bytes/],
  ['SEAL_KEY', `${'A'.repeat(20)} ${'A'.repeat(23)}=`, /^SEAL_KEY must be 32 bytes/],
  ['SEAL_KEYS_OLD', `${key},secret`, /^SEAL_KEYS_OLD must be 32 bytes/],
  ['KEY_PEPPER', 'zz'.repeat(32), /^KEY_PEPPER must be 32 bytes/],
  ['SMTP_URL', 'https://mail.example.gm', /^SMTP_URL must be the address of a mail server/],
  ['SMTP_URL', 'smtp://mail.example.gm?requireTLS=false', /^SMTP_URL must be the address of a mail server/],
  ['SMTP_URL', 'smtps://mail.example.gm', /^MAIL_FROM is required with SMTP_URL\.$/],
  ['MAIL_FROM', 'Dalasi <pay@example.gm', /^MAIL_FROM must be a sender/],
  ['MAIL_FROM', 'a@example.gm, b@example.gm', /^MAIL_FROM must be a sender/],
  ['MAIL_FROM', 'nobody', /^MAIL_FROM must be a sender/],
  ['SYNTHETIC_PAYMENT_KEY', `sk_live_${'0'.repeat(38)}`, /^SYNTHETIC_PAYMENT_KEY must be a test key/],
  ['OPERATOR_EMAIL', 'a@example.gm, b@example.gm', /^OPERATOR_EMAIL must be an address/],
  ['SIGN_UP', 'yes', /^SIGN_UP must be open or closed, not "yes"\.$/],
  ['DEMO_WEBHOOK_URL', 'example.gm/hook', /^DEMO_WEBHOOK_URL must be an address/],
  ['SIGNATURE_HEADER', 'x signature', /^SIGNATURE_HEADER must be the name of a header\.$/],
  ['SIGNATURE_HEADER', 'Webhook-Signature', /^SIGNATURE_HEADER must be a header that webhooks do not use otherwise\.$/],
  ['SIGNATURE_HEADER', 'transfer-encoding', /^SIGNATURE_HEADER must be a header that webhooks do not use otherwise\.$/],
  ['INTENT_LIFETIME_MINUTES', '0', /^INTENT_LIFETIME_MINUTES must be a whole number from 1 to 10080/],
  ['SETTLEMENT_DELAY_HOURS', '721', /^SETTLEMENT_DELAY_HOURS must be a whole number from 0 to 720/],
  ['AMOUNT_MIN', '0', /^AMOUNT_MIN must be an amount in dalasi above 0/],
  ['AMOUNT_MIN', '1.005', /^AMOUNT_MIN must be an amount/],
  ['AMOUNT_MAX', '999999999999999999999', /^AMOUNT_MAX must be an amount below 1000000000 dalasi, not "9+"\.$/],
  ['AMOUNT_MAX', '0.5', /^AMOUNT_MAX must not be below AMOUNT_MIN\.$/],
  ['RATE_LIMIT_LIVE', '-1', /^RATE_LIMIT_LIVE must be a whole number/],
  ['RATE_LIMIT_TEST', 'many', /^RATE_LIMIT_TEST must be a whole number/],
  ['RATE_LIMIT_PAGES', '1.5', /^RATE_LIMIT_PAGES must be a whole number/],
  ['RATE_LIMIT_KEY_PERCENT', '101', /^RATE_LIMIT_KEY_PERCENT must be a whole number from 1 to 100/],
  ['RATE_LIMIT_KEYLESS', '-1', /^RATE_LIMIT_KEYLESS must be a whole number/],
  ['RATE_LIMIT_CODES', 'none', /^RATE_LIMIT_CODES must be a whole number/],
  ['NETWORK_DIAL_CODES', 'afrimoney', /^NETWORK_DIAL_CODES must be networks with their codes, such as/],
  ['NETWORK_DIAL_CODES', 'afrimoney:*777#,qmoney:<b>', /^NETWORK_DIAL_CODES must be/],
  [
    'TRUSTED_PROXIES',
    '1',
    /^TRUSTED_PROXIES must be addresses \(of IPv6 without %zone\), networks such as 10\.0\.0\.0\/8, loopback,/,
  ],
  ['TRUSTED_PROXIES', '0.0.0.0/0', /^TRUSTED_PROXIES must be addresses/],
  ['TRUSTED_PROXIES', '10.0.0.5, 10.0.0.0/33', /^TRUSTED_PROXIES must be addresses/],
  ['TRUSTED_PROXIES', 'proxy.example.gm', /^TRUSTED_PROXIES must be addresses/],
  ['TRUSTED_PROXIES', 'fe80::1%br-lan', /^TRUSTED_PROXIES must be addresses \(of IPv6 without %zone\)/],
  ['CLOSING_NOTICE_SECONDS', '16', /^CLOSING_NOTICE_SECONDS must be a whole number from 0 to 15/],
  [
    'WHATSAPP_ACCESS_TOKEN',
    'secret',
    /^WHATSAPP_PHONE_NUMBER_ID, WHATSAPP_TEMPLATE, .* and \w+_TOKEN are required with WHATSAPP_ACCESS_TOKEN\.$/,
  ],
  ['WHATSAPP_PHONE_NUMBER_ID', '+220 701 2345', /^WHATSAPP_PHONE_NUMBER_ID must be the digits of an id\.$/],
  ['WHATSAPP_TEMPLATE', 'Paid', /^WHATSAPP_TEMPLATE must be a name of small letters, digits and _\.$/],
  ['WHATSAPP_TEMPLATE_LANGUAGE', 'English', /^WHATSAPP_TEMPLATE_LANGUAGE must be a code such as en or en_GB\.$/],
  ['WHATSAPP_API_VERSION', 'v23', /^WHATSAPP_API_VERSION must be a version such as 23\.0\.$/],
  ['WHATSAPP_URL', 'graph.example', /^WHATSAPP_URL must be an address/],
  ['TELEGRAM_URL', 'ftp://bots.example', /^TELEGRAM_URL must be an address/],
  ['TELEGRAM_WEBHOOK_SECRET', 'secret word', /^TELEGRAM_WEBHOOK_SECRET must be letters, digits, _ and - only\.$/],
  ['TELEGRAM_BOT_TOKEN', 'secret/..', /^TELEGRAM_BOT_TOKEN must be as @BotFather writes it, 123456:…\.\n/],
  ['TELEGRAM_BOT_TOKEN', '1234567:secret', /^TELEGRAM_WEBHOOK_SECRET is required with TELEGRAM_BOT_TOKEN\.$/],
  ['LOG_LEVEL', 'verbose', /^LOG_LEVEL must be debug, info, warn, error or silent, not "verbose"\.$/],
] as const;

describe('an invalid setting is refused by name, with its allowed values', () => {
  for (const [name, value, sentence] of wrong) test(`${name}=${value}`, () => refuses({ [name]: value }, sentence));

  test('the table covers every setting that can be invalid', () => {
    // Any text may be the name of a folder or a secret of somebody's; that of a host is known to be wrong when it is
    // listened on.
    const anyText = [
      'HOST',
      'DATA_DIR',
      'BACKUP_DIR',
      'CHAIN_DIR',
      'NETWORK_LOGOS',
      'RECEIPT_TEMPLATES',
      'WHATSAPP_APP_SECRET',
      'WHATSAPP_VERIFY_TOKEN',
    ];
    const tried = new Set<string>(wrong.map(([name]) => name));
    assert.deepEqual(
      settings.map(({ name }) => name).filter((name) => !tried.has(name)),
      anyText,
    );
  });
});

describe('settings that depend on each other', () => {
  for (const name of ['SEAL_KEY', 'KEY_PEPPER', 'PUBLIC_URL'] as const) {
    test(`production without ${name}`, () => {
      const { [name]: _, ...rest } = production;
      refuses(rest, new RegExp(`^${name} is required in production`));
    });
  }

  test('all missing settings are named at once, with how to create them', () => {
    refuses(
      { APP_ENV: 'production' },
      /^SEAL_KEY, KEY_PEPPER and PUBLIC_URL are required in production; make each key with `openssl rand -base64 32`; PUBLIC_URL is for example https:\/\/pay\.example\.gm\.$/,
    );
    refuses(
      { APP_ENV: 'production', ROLE: 'worker', SEAL_KEY: key },
      /^ROLE=worker needs DATABASE_URL: .*; KEY_PEPPER and PUBLIC_URL are required in production; make it with /,
    );
    refuses(
      { APP_ENV: 'production', SEAL_KEY: 'abc', PORT: 'x', WHATSAPP_ACCESS_TOKEN: 'token', TELEGRAM_BOT_TOKEN: '1:x' },
      /^PORT must be .*\nSEAL_KEY must be 32 bytes .*\nWHATSAPP_PHONE_NUMBER_ID, .*\nTELEGRAM_WEBHOOK_SECRET is required with TELEGRAM_BOT_TOKEN\.\nKEY_PEPPER and PUBLIC_URL are required/,
    );
    refuses(
      { ROLE: 'worker', DATABASE_URL: 'x' },
      /^DATABASE_URL must be .*\nSEAL_KEY, KEY_PEPPER and PUBLIC_URL are required/,
    );
    refuses({ ROLE: 'worker' }, /^ROLE=worker needs DATABASE_URL: .*; ROLE=worker needs INTERNAL_URL, /);
  });

  for (const name of ['DATABASE_URL', 'APP_DATABASE_URL']) {
    test(`${name} alone means production`, () => {
      assert.equal(readConfig({ ...production, APP_ENV: '', [name]: database }).production, true);
      refuses({ [name]: database }, /^SEAL_KEY, KEY_PEPPER and PUBLIC_URL are required in production/);
    });
  }

  test('ROLE=api and ROLE=worker need DATABASE_URL', () => {
    for (const role of ['api', 'worker']) refuses({ ROLE: role }, new RegExp(`^ROLE=${role} needs DATABASE_URL`));
  });

  test('ROLE=worker needs the address of an API process', () => {
    const worker = { ROLE: 'worker', APP_ENV: 'development', DATABASE_URL: database };
    refuses(worker, /^ROLE=worker needs INTERNAL_URL, where an API process listens/);
    assert.equal(readConfig({ ...worker, PUBLIC_URL: 'http://pay.example.gm' }).role, 'worker');
    assert.equal(readConfig({ ...worker, INTERNAL_URL: 'http://api:8080/' }).internalUrl, 'http://api:8080');
  });
});

describe('a misspelt setting is named with the one that it probably means', () => {
  const named = {
    DATABSE_URL: 'DATABASE_URL',
    SEAL_KEY_OLD: 'SEAL_KEYS_OLD',
    RATE_LIMIT_PAGE: 'RATE_LIMIT_PAGES',
    database_url: 'DATABASE_URL',
    DALASI_PUBLIC_URL: 'PUBLIC_URL',
  };
  for (const [typed, meant] of Object.entries(named)) {
    test(typed, () => {
      const sentence = `${typed} is no setting. Did you mean ${meant}?`;
      assert.deepEqual(misspeltSettings({ [typed]: 'x' }), [sentence]);
      assert.throws(
        () => readConfig({ APP_ENV: 'production', [typed]: 'secret' }),
        (error) => error instanceof StartError && error.message.endsWith(`\n${sentence}`),
      );
    });
  }

  test('but no variable of another program, no empty one, and none beside the right one', () => {
    const others = ['HOME', 'HOSTNAME', 'LOGNAME', 'NODE_ENV', 'PATH', 'PGDATABASE', 'TERM', 'TMPDIR', 'DATABASE_HOST'];
    const ofHosts = ['EXTERNAL_URL', 'FTP_URL'];
    const ofTool = ['DALASI_URL', 'DALASI_API_KEY', 'DALASI_WEBHOOK_SECRET'];
    const ofKubernetes = ['DALASI_PORT', 'DALASI_PORT_8080_TCP_PORT', 'DALASI_SERVICE_HOST', 'DALASI_SERVICE_PORT'];
    const all = (names: readonly string[]) => misspeltSettings(Object.fromEntries(names.map((name) => [name, 'x'])));
    assert.deepEqual(all([...others, ...ofHosts, ...ofTool, ...ofKubernetes]), []);
    for (const { name } of settings) assert.deepEqual(all([name]), []);
    assert.deepEqual(all(['SEAL_KEYS_OLD', 'SEAL_KEY_OLD']), []);
    assert.deepEqual(misspeltSettings({ DATABSE_URL: ' ' }), []);
  });
});

test('without any setting the service runs in development and listens on this machine only', () => {
  const { production: isProduction, host, port, databaseUrl, role } = readConfig({});
  assert.deepEqual(
    { isProduction, host, port, databaseUrl, role },
    { isProduction: false, host: '127.0.0.1', port: 8080, databaseUrl: null, role: 'all' },
  );
});

test('an sslmode of older libpq versions becomes verify-full, without a warning of the driver', () => {
  for (const mode of ['prefer', 'require', 'verify-ca']) {
    const { databaseUrl } = readConfig({ ...production, DATABASE_URL: `${database}?sslmode=${mode}` });
    assert.equal(databaseUrl, `${database}?sslmode=verify-full`);
  }
  const compatible = `${database}?sslmode=require&uselibpqcompat=true`;
  assert.equal(readConfig({ ...production, DATABASE_URL: compatible }).databaseUrl, compatible);
});

test('chat channels are off without their token, and have default addresses with it', () => {
  const off = readConfig({});
  for (const [name, value] of [
    ['WHATSAPP_TEMPLATE', 'paid'],
    ['TELEGRAM_WEBHOOK_SECRET', 'word'],
  ] as const) {
    assert.deepEqual([readConfig({ [name]: value }).whatsapp, readConfig({ [name]: value }).telegram], [null, null]);
  }
  assert.deepEqual([off.whatsapp, off.telegram], [null, null]);
  const on = readConfig({
    WHATSAPP_ACCESS_TOKEN: 'token',
    WHATSAPP_PHONE_NUMBER_ID: '1055501234',
    WHATSAPP_TEMPLATE: 'payment_received',
    WHATSAPP_APP_SECRET: 'app secret',
    WHATSAPP_VERIFY_TOKEN: 'word',
    TELEGRAM_BOT_TOKEN: '123456:abc',
    TELEGRAM_WEBHOOK_SECRET: 'secret',
    TELEGRAM_URL: 'https://bots.example/',
  });
  assert.equal(on.whatsapp?.baseUrl, 'https://graph.facebook.com');
  assert.equal(on.whatsapp.apiVersion, '23.0');
  assert.equal(on.whatsapp.templateLanguage, 'en');
  assert.equal(on.telegram?.baseUrl, 'https://bots.example');
});
