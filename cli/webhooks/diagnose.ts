import { bodyVariants } from './body-variants.ts';
import type { Cause } from './causes.ts';
import { signsOfRewriting } from './rewritten-json.ts';
import { findMistakes, serviceScheme, standardScheme } from './signature-search.ts';
import type { NamedSecret, SignatureSearch } from './signature-search.ts';

/** A request as a receiver has it, and what it should verify with. */
export interface DiagnosedRequest {
  body: Uint8Array;
  /** With names in lower case. */
  headers: ReadonlyMap<string, string>;
  /** As it is configured, with whatever is around it. */
  secret: string;
  otherSecrets: readonly NamedSecret[];
  /** The name of the service's own header, in lower case. */
  serviceHeader: string;
  /** When it came in. */
  receivedAt: Date;
}

/** What is true of one header. */
export interface Diagnosis {
  header: string;
  verifies: boolean;
  /** None when it verifies. */
  causes: Cause[];
}

/** Standard Webhooks: older or newer than this is refused. */
const toleranceSeconds = 300;

/**
 * Says of each of the two signatures whether it verifies, and if not, why: by making the known mistakes until one of
 * them leads to what was sent. What none of them explains is told from the looks of the body, or is a wrong secret.
 * A header that is missing counts only when the other one is missing too: receivers look at one of them.
 */
export function diagnose(request: DiagnosedRequest): Diagnosis[] {
  const { headers, serviceHeader } = request;
  const shared = { bodies: bodyVariants(request.body), secrets: secretChoices(request) };
  const hasStandard = headers.has('webhook-signature');
  const standard = hasStandard ? diagnoseStandard(request, shared) : null;
  const signature = headers.get(serviceHeader);
  if (signature === undefined) return [standard ?? missing(serviceHeader)];
  const service = diagnoseOne(request, serviceHeader, { ...shared, scheme: serviceScheme, signatures: [signature] });
  if (!standard) return [service];
  return [
    isRotation(request, service, standard) ? { ...service, causes: [{ cause: 'previous_secret' }] } : service,
    standard,
  ];
}

type Shared = Pick<SignatureSearch, 'bodies' | 'secrets'>;

function missing(header: string): Diagnosis {
  return { header, verifies: false, causes: [{ cause: 'header_missing' }] };
}

function diagnoseStandard(request: DiagnosedRequest, shared: Shared): Diagnosis {
  const { headers } = request;
  const scheme = standardScheme({
    id: headers.get('webhook-id') ?? '',
    timestamp: headers.get('webhook-timestamp') ?? '',
    idInBody: idInBody(request.body),
  });
  const sent = headers.get('webhook-signature') ?? '';
  const signatures = sent.split(' ').filter((signature) => signature !== '');
  const diagnosis = diagnoseOne(request, 'webhook-signature', { ...shared, scheme, signatures });
  const late = timestampCause(request);
  // Without its timestamp nothing can be verified, and what else might be wrong is guesswork.
  if (late?.cause === 'timestamp_missing' || late?.cause === 'timestamp_malformed')
    return { ...diagnosis, verifies: false, causes: [late] };
  return late ? { ...diagnosis, verifies: false, causes: [...diagnosis.causes, late] } : diagnosis;
}

function diagnoseOne(request: DiagnosedRequest, header: string, search: SignatureSearch): Diagnosis {
  if (search.signatures.join('').trim() === '')
    return { header, verifies: false, causes: [{ cause: 'signature_empty' }] };
  const causes = findMistakes(search) ?? [unexplained(request)];
  return { header, verifies: causes.length === 0, causes };
}

/** The secret, what it may have been without the mistakes of copying, and the others. */
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

/** During a rotation there are two signatures in the one header, and the older of the two in the other. */
function isRotation({ headers }: DiagnosedRequest, service: Diagnosis, standard: Diagnosis): boolean {
  const hasTwo = /\S \S/.test(headers.get('webhook-signature') ?? '');
  const isOther = service.causes.some(({ cause }) => cause === 'wrong_secret' || cause === 'other_secret');
  const isOwn = standard.causes.every(({ cause }) => cause.startsWith('timestamp_'));
  return hasTwo && service.causes.length === 1 && isOther && isOwn;
}

/** No known mistake leads to this signature: what does the request itself look like? */
function unexplained({ body, headers, secret, otherSecrets }: DiagnosedRequest): Cause {
  const text = Buffer.from(body).toString('utf8');
  if (/^\s*(\{\s*\}|\[object \w+\]|Array|null|undefined)?\s*$/.test(text)) return { cause: 'body_lost' };
  const length = headers.get('content-length');
  const isCut = !isJson(text) && text.trimStart().startsWith('{') && !text.trimEnd().endsWith('}');
  if (isCut || (length !== undefined && Number(length) > body.length)) return { cause: 'body_truncated' };
  if (!isJson(text)) return { cause: 'body_not_json' };
  const [inBody, inHeader] = [idInBody(body), headers.get('webhook-id')];
  if (inBody !== null && inHeader !== undefined && inBody !== inHeader) return { cause: 'other_event' };
  const rewriting = signsOfRewriting(text);
  if (rewriting !== null) return { cause: 'rewritten', detail: rewriting };
  const isMalformed = ![secret, ...otherSecrets.map((other) => other.secret)].some(isWholeSecret);
  return { cause: isMalformed ? 'secret_malformed' : 'wrong_secret' };
}

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

function idInBody(body: Uint8Array): string | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null;
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}

function timestampCause({ headers, receivedAt }: DiagnosedRequest): Cause | null {
  const timestamp = headers.get('webhook-timestamp');
  if (timestamp === undefined || timestamp === '') return { cause: 'timestamp_missing' };
  if (!/^\d{1,11}$/.test(timestamp)) return { cause: 'timestamp_malformed' };
  const ageSeconds = receivedAt.getTime() / 1_000 - Number(timestamp);
  if (Math.abs(ageSeconds) <= toleranceSeconds) return null;
  return { cause: ageSeconds > 0 ? 'timestamp_old' : 'timestamp_future' };
}
