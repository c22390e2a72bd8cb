/** Why a signature does not verify: what is so, and what to do about it. */
export const causes = {
  header_missing: {
    what: 'The request has no such header, or it is empty.',
    advice:
      'Look at the request as it came in: a proxy in front of your server may drop headers that it does not know.',
  },
  sha256_for_sha512: {
    what: 'The signature was made with SHA-256; this one is made with SHA-512.',
    advice: 'Use HMAC-SHA512 for this header. SHA-256 is what webhook-signature is made with.',
  },
  sha512_for_sha256: {
    what: 'The signature was made with SHA-512; this one is made with SHA-256.',
    advice: 'Use HMAC-SHA256 for this header. SHA-512 is what the service’s own header is made with.',
  },
  base64_for_hex: {
    what: 'The signature is written in base64; this one is written in hex.',
    advice: 'Ask your library for the digest in lower-case hex.',
  },
  hex_for_base64: {
    what: 'The signature is written in hex; this one is written in base64.',
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
    what: 'The secret that you gave has spaces, quotes or a line end around it.',
    advice: 'Take them away where your server reads the secret; a line end at the end of a file is the usual one.',
  },
  secret_malformed: {
    what: 'What you gave is not a webhook secret: wh_ and the base64 of at least 24 bytes.',
    advice:
      'Copy the whole secret. It was shown when the endpoint was made or its secret changed; if it is lost, rotate it.',
  },
  empty_secret: {
    what: 'The signature was made with an empty secret, as everybody can.',
    advice: 'Find out where the secret gets lost, and do not start without it.',
  },
  other_secret: {
    what: 'The signature was made with another secret that you gave:',
    advice: 'Each endpoint has its own secret; what goes to a callback_url is signed with the default endpoint’s.',
  },
  previous_secret: {
    what: 'The secret is being rotated: this header keeps the old one until the overlap ends, and yours is the new one.',
    advice: 'Look at webhook-signature, which carries both; or end the overlap when all receivers know the new secret.',
  },
  wrong_secret: {
    what: 'The signature was made with another secret, or over other bytes than these.',
    advice:
      'If the body is what came in, byte for byte, compare the secret with the endpoint that the event went to: each has its own, and a callback_url has the default endpoint’s.',
  },
  line_end_added: {
    what: 'The body has a trailing newline, or other white space at its end, that was not signed.',
    advice: 'Verify the bytes as they came. Editors and echo add a newline; cat and printf do not.',
  },
  rewritten: {
    what: 'The body was parsed and written again, so that spaces or escapes changed.',
    advice: 'Verify the raw bytes before any JSON parser has touched them; most frameworks must be asked to keep them.',
  },
  body_lost: {
    what: 'The body is empty or only the name of an object: something read it before.',
    advice: 'Keep the raw bytes before any parser runs; most frameworks must be asked to.',
  },
  only_the_body_signed: {
    what: 'The signature was made over the body alone.',
    advice: 'Sign webhook-id, webhook-timestamp and the body, with dots between them.',
  },
  timestamp_missing: {
    what: 'The request has no webhook-timestamp in whole seconds since 1970.',
    advice: 'Hand on webhook-id and webhook-timestamp as well: both are part of what is signed.',
  },
  timestamp_old: {
    what: 'webhook-timestamp is more than five minutes before the time of receiving.',
    advice: 'For a request that you kept, say when it came in with --at. Otherwise refuse it, and look at your clock.',
  },
  timestamp_future: {
    what: 'webhook-timestamp is more than five minutes after the time of receiving.',
    advice: 'Set your server’s clock by the network; or say when the request came in with --at.',
  },
} as const satisfies Record<string, { what: string; advice: string }>;

export type CauseName = keyof typeof causes;

/** One reason, and what was seen that says so. */
export interface Cause {
  cause: CauseName;
  /** What belongs behind the sentence: the name of the other secret, what was written otherwise. */
  detail?: string;
}
