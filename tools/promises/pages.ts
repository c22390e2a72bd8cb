import type { PromiseGroup } from './promise.ts';

const checkout = 'server/src/pages/checkout/checkout-security.test.ts';
const portal = 'test/stories/dashboard-authorisation.test.ts';
const signIn = 'server/src/portal/sign-in.test.ts';
const accounts = 'server/src/accounts/sign-in.test.ts';
const factors = 'server/src/accounts/second-factor.test.ts';

export const pages: PromiseGroup = {
  title: 'Pages and the dashboard',
  promises: [
    {
      id: 'H1',
      promise:
        'Every page has a strict content policy, cannot be framed or cached, and on https asks for https for a year.',
      gates: ['change'],
      tests: {
        [checkout]: [
          'every page, including error pages, has a policy that allows only what it needs',
          'a service with https sends HSTS for a year',
          'a framed page stays blank, even on our own host',
        ],
        [portal]: [
          'opens to … what the table of roles allows, and refuses the rest without effect',
          'guards the answer to what is no request of ours, too',
        ],
        'simulator/phone/phone-pages.test.ts': ['phone pages have the headers of every page'],
      },
    },
    {
      id: 'H2',
      promise: 'On https every cookie is __Host-, Secure, HttpOnly and SameSite.',
      gates: ['change'],
      tests: {
        'server/src/pages/checkout/change-number.test.ts': [
          'the cookies of a service with https are its own, and out of reach of scripts and of plain http',
        ],
        [signIn]: [
          'clickjacking: no page can be framed; cookies are hidden from scripts and other sites',
          'on https every cookie of signing in is __Host-, Secure, HttpOnly and SameSite',
        ],
        'tools/tidy.test.ts': ['cookies are set in one place'],
      },
    },
    {
      id: 'H3',
      promise: 'No form of another site, session or kind does anything, on any route that changes something.',
      gates: ['change'],
      tests: {
        [checkout]: [
          'a cross-site form is refused on every route and changes nothing',
          'a real browser on another site cannot pay, cancel or confirm',
        ],
        [portal]: ['cross-site request: takes no form of another site or session, or without a proof'],
        [signIn]: ['cross-site request: no form of another site or session, or without a proof, does anything'],
        'server/src/pages/checkout/checkout-forms.test.ts': ['GET requests change nothing'],
      },
    },
    {
      id: 'H4',
      promise:
        'Passwords cannot be guessed: ten tries, then growing waits for login, address and all, and no lock-out.',
      gates: ['change', 'long'],
      tests: {
        [accounts]: [
          'after ten wrong passwords an address has to wait, whether or not it has a login',
          'waits double with each further wrong password, up to a quarter of an hour',
          'one address and one process can only try so often',
          'a new password ends every session, and of two uses of its link at once one counts',
        ],
        'server/src/accounts/guessing.long.test.ts': [
          '… passwords for one login: ten are compared, then one per growing wait',
          'one password for … logins: a process compares its burst, and nobody is locked',
          'signing in to a known and to an unknown login takes the same time within 5 ms',
        ],
        [signIn]: ['by text and time, signing up and a forgotten password are the same for every address'],
        'test/stories/alert-rules.test.ts': ['refused sign-ins are counted where the rule for guessed passwords looks'],
      },
    },
    {
      id: 'H5',
      promise:
        'A code of an authenticator app counts once, one step early or late, five tries; recovery codes count once.',
      gates: ['change'],
      tests: {
        [factors]: [
          'a code counts once, also when it is sent in many requests at once',
          'the codes of one step before and after count, others do not',
          'after five wrong codes no code is accepted for a while, not even the right one',
          'each recovery code counts once, in either spelling, and only for its own login',
          'with a second factor a password alone opens nothing, also a newly chosen one',
        ],
        'server/src/operator/secret-commands.test.ts': [
          'every column of sealed values belongs to a store that is resealed',
        ],
      },
    },
    {
      id: 'H6',
      promise: 'A session ends after 30 idle minutes, after 12 hours, and wherever a password or role changes.',
      gates: ['change'],
      tests: {
        [accounts]: [
          'a session ends after 30 idle minutes, after 12 hours, and when it is ended',
          'a token of before the second factor is worth nothing afterwards, and no token is stored',
          'a new password ends every session, and of two uses of its link at once one counts',
        ],
        [signIn]: ['session fixation: a session that was put into the browser is not the one that is signed in'],
        'server/src/accounts/team.test.ts': ['role taken away: it is gone at the next look'],
      },
    },
    {
      id: 'H7',
      promise:
        'Nothing that a payer’s browser sends changes amount, merchant or state; pages run only our own scripts.',
      gates: ['change', 'production'],
      tests: {
        'server/src/pages/checkout/checkout-forms.test.ts': [
          'only network, number and code of a form reach the payment',
        ],
        'test/stories/payment-docs.test.ts': [
          'shows an order as paid when the payment is successful, whatever its address claims',
        ],
        'server/src/pages/inline-asset.test.ts': ['the policy’s source is the hash of exactly the inline text'],
        'server/src/operator/page-commands.test.ts': [
          'the pages of a server of this release have its scripts only',
          'a script or a policy that is not of the release is named, and ends with 1: …',
          'a service compares its own pages every hour, and its figures tell a changed script and none at all',
          'an API process in production compares its pages by itself; a worker, or in development, none does',
        ],
        [checkout]: ['every page, including error pages, has a policy that allows only what it needs'],
      },
      metrics: ['dalasi_page_scripts_wrong', 'dalasi_page_scripts_verified_seconds'],
    },
    {
      id: 'H8',
      promise:
        'Markup and formulas in what people write run nowhere: pages, messages, posters, files for spreadsheets.',
      gates: ['long'],
      tests: {
        [checkout]: ['markup in untrusted text is shown as text and runs nowhere'],
        'server/src/pages/collect/collect-pages.test.ts': ['markup in what was typed stays text'],
        'server/src/pages/chat/chat-pages.test.ts': ['markup in a message is shown as text and runs nothing'],
        'server/src/posters/draw-poster.test.ts': ['become shapes only, whatever they contain'],
        'server/src/kit/csv.test.ts': ['has no cell that a spreadsheet reads as a formula, and loses no text'],
        [portal]: ['CSV formula: no cell of any exported file is one'],
        'test/stories/hostile-texts.long.test.ts': [
          '…: no text becomes markup',
          'records in every state, and what receivers of events responded: no text becomes markup',
          'payers’ pages, chat, phone and mails: no text becomes markup, typed or stored',
          'forms behind a sign-in: what is typed comes back as text, refused or not',
          'files for spreadsheets: no cell begins a formula, whichever sign a text begins with',
        ],
      },
    },
    {
      id: 'H9',
      promise:
        'No dangerous URL is stored as a link, no secret is in an address or log, and a number is masked for others.',
      gates: ['change'],
      tests: {
        'server/src/payments/urls.test.ts': [
          'a page’s URL on a private host, with a login, without TLS or of a dangerous scheme is refused',
          'a URL that a browser reads differently than sent is refused, for pages and callbacks',
        ],
        'server/src/kit/linkable-url.test.ts': [
          'no scheme that browsers handle themselves is linked, however it is written',
        ],
        'server/src/pages/checkout/checkout-forms.test.ts': [
          'a payment’s URL is never sent as Referer, to the network, the shop or this service',
        ],
        'server/src/pages/checkout/change-number.test.ts': [
          'is shown whole to the browser that typed it, and masked to everyone else',
        ],
        'test/stories/frame-secrets.test.ts': [
          'and the metrics contain no secret, number or text of a payer, whatever fails',
        ],
      },
    },
  ],
};
