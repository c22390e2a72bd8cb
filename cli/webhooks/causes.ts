/** Why a signature does not verify: the cause, and what to do. */
export const causes = {
  header_missing: {
    what: 'The request has no such header, or it is empty.',
    advice: 'Check the request as received: a proxy in front of your server may drop unknown headers.',
  },
  sha256_for_sha512: {
    what: 'The signature was made with SHA-256; this header uses SHA-512.',
    advice: 'Use HMAC-SHA512 for this header. webhook-signature uses SHA-256.',
  },
  sha512_for_sha256: {
    what: 'The signature was made with SHA-512; this header uses SHA-256.',
    advice: 'Use HMAC-SHA256 for this header. The service’s own header uses SHA-512.',
  },
  base64_for_hex: {
    what: 'The signature is written in base64; this header uses hex.',
    advice: 'Ask your library for the digest in lower-case hex.',
  },
  hex_for_base64: {
    what: 'The signature is written in hex; this header uses base64.',
    advice: 'Ask your library for the digest in base64.',
  },
  version_missing: {
    what: 'The signature lacks the v1, in front of it.',
    advice: 'Put v1, in front of the base64 digest before you compare it.',
  },
  key_not_whole: {
    what: 'The signature was made with a part of the secret: without its wh_, or decoded from base64.',
    advice: 'The key of this header is the whole secret as it was shown, wh_ included.',
  },
  key_not_decoded: {
    what: 'The signature was made with the secret as text.',
    advice: 'Decode the part behind wh_ from base64, and take the bytes as the key.',
  },
  secret_without_prefix: {
    what: 'The secret that you gave lacks its wh_.',
    advice: 'Configure the secret as it was shown, wh_ included.',
  },
  secret_padded: {
    what: 'The secret that you gave has spaces, quotes or a newline around it.',
    advice: 'Trim the secret where your server reads it; the usual cause is a newline at the end of a file.',
  },
  secret_malformed: {
    what: 'What you gave is not a webhook secret: wh_ and the base64 of at least 24 bytes.',
    advice:
      'Copy the whole secret. It was shown when the endpoint was created or its secret rotated; if it is lost, rotate it.',
  },
  empty_secret: {
    what: 'The signature was made with an empty secret, which anybody can do.',
    advice: 'Find out where the secret is lost, and do not start your server without it.',
  },
  other_secret: {
    what: 'The signature was made with another secret that you gave:',
    advice: 'Each endpoint has its own secret; events to a callback_url are signed with that of the default endpoint.',
  },
  previous_secret: {
    what: 'The secret is being rotated: this header uses the old secret until the overlap ends, and yours is the new one.',
    advice: 'Verify webhook-signature, which carries both; or end the overlap once all receivers have the new secret.',
  },
  wrong_secret: {
    what: 'The signature was made with another secret, or over other bytes than these.',
    advice:
      'If the body is as received, byte for byte, check the secret: each endpoint has its own, and a callback_url uses that of the default endpoint.',
  },
  line_end_added: {
    what: 'The body has a trailing newline, or other white space at its end, that was not signed.',
    advice: 'Verify the bytes as received. Editors and echo add a newline; cat and printf do not.',
  },
  rewritten: {
    what: 'The body was parsed and written again, so that spaces or escapes changed.',
    advice: 'Verify the raw bytes before any JSON parser; most frameworks keep them only if you configure it.',
  },
  body_lost: {
    what: 'The body is empty or the name of an object: it was read before.',
    advice: 'Keep the raw bytes before any parser runs; most frameworks do so only if you configure it.',
  },
  only_the_body_signed: {
    what: 'The signature was made over the body alone.',
    advice: 'Sign webhook-id, webhook-timestamp and the body, with dots between them.',
  },
  timestamp_missing: {
    what: 'The request has no webhook-timestamp in whole seconds since 1970.',
    advice: 'Pass webhook-id and webhook-timestamp as well: both are signed.',
  },
  timestamp_old: {
    what: 'webhook-timestamp is more than five minutes before the time of receipt.',
    advice: 'For a stored request, give its time of receipt with --at. Otherwise refuse it, and check your clock.',
  },
  timestamp_future: {
    what: 'webhook-timestamp is more than five minutes after the time of receipt.',
    advice: 'Synchronize the clock of your server; or give the time of receipt with --at.',
  },
} as const satisfies Record<string, { what: string; advice: string }>;

export type CauseName = keyof typeof causes;

/** One cause. */
export interface Cause {
  cause: CauseName;
  /** Follows the sentence: the name of the other secret. */
  detail?: string;
}
