import type { Cause } from './causes.ts';
import {
  findMistake,
  serviceScheme,
  standardScheme,
  type NamedSecret,
  type SignatureSearch,
} from './signature-search.ts';

/** A received request, and what to verify it with. */
export interface DiagnosedRequest {
  body: Uint8Array;
  /** With names in lower case. */
  headers: ReadonlyMap<string, string>;
  /** Exactly as configured, with any white space or quotes. */
  secret: string;
  otherSecrets: readonly NamedSecret[];
  /** The name of the service's own header, in lower case. */
  serviceHeader: string;
  /** The time of receipt. */
  receivedAt: Date;
}

/** The result for one header. */
export interface Diagnosis {
  header: string;
  verifies: boolean;
  /** None when it verifies. */
  causes: Cause[];
}

/** Standard Webhooks: older or newer than this is refused. */
const toleranceSeconds = 300;

/**
 * Verifies both signatures. For one that fails it tries the common mistakes and compares; if none matches, the form of the
 * body gives the cause, else it is a wrong secret. A missing header counts only if the other one is missing too, because a
 * receiver verifies one of them.
 */
export function diagnose(request: DiagnosedRequest): Diagnosis[] {
  const { headers, serviceHeader } = request;
  const shared = { bodies: bodyChoices(request.body), secrets: secretChoices(request) };
  const standard = diagnoseStandard(request, shared);
  const signature = headers.get(serviceHeader)?.trim() ?? '';
  if (signature === '') {
    return [standard ?? { header: serviceHeader, verifies: false, causes: [{ cause: 'header_missing' }] }];
  }
  const service = diagnoseOne(request, serviceHeader, { ...shared, scheme: serviceScheme, signatures: [signature] });
  if (!standard) return [service];
  return [
    isRotation(request, service, standard) ? { ...service, causes: [{ cause: 'previous_secret' }] } : service,
    standard,
  ];
}

type Shared = Pick<SignatureSearch, 'bodies' | 'secrets'>;

function diagnoseStandard(request: DiagnosedRequest, shared: Shared): Diagnosis | null {
  const { headers } = request;
  const signatures = (headers.get('webhook-signature') ?? '').split(' ').filter((signature) => signature !== '');
  if (signatures.length === 0) return null;
  const [id, timestamp] = [headers.get('webhook-id') ?? '', headers.get('webhook-timestamp') ?? ''];
  const scheme = standardScheme({ id, timestamp });
  const diagnosis = diagnoseOne(request, 'webhook-signature', { ...shared, scheme, signatures });
  const timestampProblem = timestampCause(request);
  // Without a timestamp nothing can be verified, and any other cause would be a guess.
  if (timestampProblem?.cause === 'timestamp_missing')
    return { ...diagnosis, verifies: false, causes: [timestampProblem] };
  return timestampProblem
    ? { ...diagnosis, verifies: false, causes: [...diagnosis.causes, timestampProblem] }
    : diagnosis;
}

function diagnoseOne(request: DiagnosedRequest, header: string, search: SignatureSearch): Diagnosis {
  const mistake = findMistake(search);
  if (mistake === null) return { header, verifies: true, causes: [] };
  return { header, verifies: false, causes: [mistake ?? unexplainedCause(request)] };
}

/** The body as it is, without trailing white space, and as the service writes JSON. */
function bodyChoices(body: Uint8Array): SignatureSearch['bodies'] {
  const text = Buffer.from(body).toString('utf8');
  return [
    { value: Buffer.from(body), cause: null },
    ...(text.trimEnd() === text
      ? []
      : [{ value: Buffer.from(text.trimEnd()), cause: { cause: 'line_end_added' as const } }]),
    ...(isJson(text)
      ? [{ value: Buffer.from(JSON.stringify(JSON.parse(text))), cause: { cause: 'rewritten' as const } }]
      : []),
  ];
}

/** The secret as it is, without mistakes of copying, and the other secrets. */
function secretChoices({ secret, otherSecrets }: DiagnosedRequest): SignatureSearch['secrets'] {
  const bare = secret.trim().replace(/^(["'])(.*)\1$/, '$2');
  const whole = `wh_${bare}`;
  const others = otherSecrets.filter((other) => other.secret !== secret);
  return [
    { value: secret, cause: null },
    ...(bare === secret ? [] : [{ value: bare, cause: { cause: 'secret_padded' as const } }]),
    ...(bare.startsWith('wh_') ? [] : [{ value: whole, cause: { cause: 'secret_without_prefix' as const } }]),
    { value: '', cause: { cause: 'empty_secret' as const } },
    ...others.map((other) => ({
      value: other.secret,
      cause: { cause: 'other_secret' as const, detail: `${other.name}.` },
    })),
  ];
}

/** During a rotation webhook-signature holds two signatures, and the service's own header the older one. */
function isRotation({ headers }: DiagnosedRequest, service: Diagnosis, standard: Diagnosis): boolean {
  const hasTwo = /\S \S/.test(headers.get('webhook-signature') ?? '');
  const isOther = service.causes.some(({ cause }) => cause === 'wrong_secret' || cause === 'other_secret');
  const isOwn = standard.causes.every(({ cause }) => cause.startsWith('timestamp_'));
  return hasTwo && service.causes.length === 1 && isOther && isOwn;
}

/** The cause by the form of the request, if no known mistake leads to the signature. */
function unexplainedCause({ body, secret, otherSecrets }: DiagnosedRequest): Cause {
  const text = Buffer.from(body).toString('utf8');
  if (/^(?:\{\s*\}|\[object \w+\]|Array|null|undefined)?$/.test(text.trim())) return { cause: 'body_lost' };
  if (spacesOrEscapes.test(text)) return { cause: 'rewritten' };
  const isMalformed = ![secret, ...otherSecrets.map((other) => other.secret)].some(isWholeSecret);
  return { cause: isMalformed ? 'secret_malformed' : 'wrong_secret' };
}

// The service writes no space between tokens, and escapes no letter or slash.
const spacesOrEscapes = /[{[,:]\s+["{[]|\\\/|\\u(?!00[01])/i;

/** Whether this is what the service calls a webhook secret. */
export function isWholeSecret(secret: string): boolean {
  return /^wh_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function timestampCause({ headers, receivedAt }: DiagnosedRequest): Cause | null {
  const timestamp = headers.get('webhook-timestamp');
  if (timestamp === undefined || !/^\d{1,11}$/.test(timestamp)) return { cause: 'timestamp_missing' };
  const ageSeconds = receivedAt.getTime() / 1_000 - Number(timestamp);
  if (Math.abs(ageSeconds) <= toleranceSeconds) return null;
  return { cause: ageSeconds > 0 ? 'timestamp_old' : 'timestamp_future' };
}
