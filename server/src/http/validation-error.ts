import type { FastifyError } from 'fastify';
import { isObject } from '../kit/untyped.ts';
import { AppError } from '../api/app-error.ts';
import type { FieldError } from '../kit/public-error.ts';
import type { ErrorCode } from '../api/error-codes.ts';
import { nearestName } from '../kit/nearest-name.ts';
import { timeOrDayFormat } from '../api/time-range.ts';

type Problem = NonNullable<FastifyError['validation']>[number] & {
  parentSchema?: ObjectSchema;
  /** The invalid value. */
  data?: unknown;
};

interface ObjectSchema {
  properties?: Record<string, ObjectSchema>;
}

interface Fault extends FieldError {
  code: ErrorCode;
}

// A body with a thousand unknown fields gets the first ones reported.
const problemsMax = 20;

/** Turns the validator's errors into sentences that name each field and its rule. */
export function validationError(error: FastifyError): AppError {
  // A malformed id is the id of nothing.
  if (error.validationContext === 'params') return new AppError('not_found', 'No record has this id.');
  const problems = problemsOfSentForm(error.validation ?? []);
  const choices = choicesByPath(problems);
  const misplaced = misplacedFields(problems);
  const rest = withTyposFirst(problems.filter((problem) => !misplaced?.explained.includes(problem)));
  const fields = [
    ...(misplaced ? [misplaced.fault] : []),
    ...rest.filter((problem) => isReportable(problem, choices)).map((problem) => describe(problem, choices)),
  ].slice(0, problemsMax);
  const [first] = fields;
  if (!first) return new AppError('invalid_request', 'The request does not match the API reference.');
  const count = fields.length - 1;
  const more = count === 0 ? '' : ` ${count} more ${count === 1 ? 'is' : 'are'} in errors.`;
  // The code and the message describe the same error, the first.
  return new AppError(first.code, first.message + more, {
    fields: fields.map(({ path, message }) => ({ path, message })),
  });
}

/** A body that may be bare or wrapped in `data` is validated as both; only the errors of the form that was sent are reported. */
function problemsOfSentForm(problems: Problem[]): Problem[] {
  const union = problems.find(({ keyword, instancePath }) => keyword === 'anyOf' && instancePath === '');
  if (!union) return problems;
  const { data } = union;
  const isWrapped = typeof data === 'object' && data !== null && Object.hasOwn(data, 'data');
  return problems.filter(({ schemaPath }) => schemaPath.startsWith(`${union.schemaPath}/${isWrapped ? 1 : 0}/`));
}

/** Fields beside `data` that belong inside it, or fields inside `data` that belong outside: one mistake, reported once. */
function misplacedFields(problems: readonly Problem[]): { fault: Fault; explained: Problem[] } | null {
  const unknown = problems.filter(
    (problem) => problem.keyword === 'additionalProperties' && problem.instancePath === '',
  );
  const missing = problems.filter((problem) => problem.keyword === 'required' && problem.instancePath === '');
  const wrapper = missing.find(({ params }) => params['missingProperty'] === 'data');
  const known = wrapper?.parentSchema?.properties?.['data']?.properties ?? {};
  const bare = unknown.filter((problem) => Object.hasOwn(known, unknownName(problem)));
  const [first] = bare;
  if (wrapper && first) {
    const name = unknownName(first);
    const value = (first.data as Record<string, unknown>)[name];
    // Only numbers are repeated: text may be a secret or personal data.
    const example = `{"data":{"${name}":${typeof value === 'number' ? value : '…'}}}`;
    const message = `Wrap the fields in data: ${example}.`;
    return { fault: { code: 'unknown_field', path: name, message }, explained: [wrapper, ...bare] };
  }
  const wrapped = unknown.find((problem) => unknownName(problem) === 'data' && isObject(dataOf(problem.data)));
  if (!wrapped) return null;
  const message = 'Send the fields without the data wrapper.';
  return { fault: { code: 'unknown_field', path: 'data', message }, explained: [wrapped, ...missing] };
}

function unknownName({ params }: Problem): string {
  return String(params['additionalProperty']);
}

function dataOf(body: unknown): unknown {
  return isObject(body) ? body['data'] : undefined;
}

/** Puts a mistyped name of a required field first, and does not report that field as missing too. */
function withTyposFirst(problems: readonly Problem[]): Problem[] {
  const missing = problems.filter(({ keyword }) => keyword === 'required');
  const typos = new Map(
    problems.flatMap((problem) => {
      if (problem.keyword !== 'additionalProperties') return [];
      const nearest = nearestKnown(problem);
      const intended = missing.find(
        ({ instancePath, params }) => instancePath === problem.instancePath && params['missingProperty'] === nearest,
      );
      return intended ? [[problem, intended] as const] : [];
    }),
  );
  const explained = new Set(typos.values());
  return [...typos.keys(), ...problems.filter((problem) => !typos.has(problem) && !explained.has(problem))];
}

function nearestKnown(problem: Problem): string | null {
  return nearestName(unknownName(problem), Object.keys(problem.parentSchema?.properties ?? {}));
}

/**
 * For a union the validator reports each branch and the union itself: the branches say more, except null. For a field with
 * listed values it reports each value and the type: the first value's message names them all.
 */
function isReportable(problem: Problem, choices: Choices): boolean {
  if (problem.keyword === 'anyOf') return false;
  const values = choices.get(problem.instancePath);
  if (problem.keyword === 'type') return values === undefined && problem.params['type'] !== 'null';
  return problem.keyword !== 'const' || values?.[0] === problem;
}

type Choices = ReadonlyMap<string, readonly Problem[]>;

function choicesByPath(problems: readonly Problem[]): Choices {
  return Map.groupBy(
    problems.filter((problem) => problem.keyword === 'const'),
    (problem) => problem.instancePath,
  );
}

function describe(problem: Problem, choices: Choices): Fault {
  const code = problem.keyword === 'additionalProperties' ? 'unknown_field' : 'invalid_request';
  return { code, ...fieldOf(problem, choices) };
}

function fieldOf(problem: Problem, choices: Choices): FieldError {
  const base = problem.instancePath.slice(1).replaceAll('/', '.');
  const { params } = problem;
  const pathOf = (name: string) => (base === '' ? name : `${base}.${name}`);
  switch (problem.keyword) {
    case 'additionalProperties':
      return describeUnknown(problem, pathOf);
    case 'required': {
      const path = pathOf(String(params['missingProperty']));
      return { path, message: `${path} is missing.` };
    }
    default:
      return { path: base, message: `${base === '' ? 'The body' : base} ${rule(problem, choices)}.` };
  }
}

function describeUnknown(problem: Problem, pathOf: (name: string) => string): FieldError {
  const path = pathOf(unknownName(problem));
  const nearest = nearestKnown(problem);
  const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path;
  const hint = nearest === null ? '' : ` Did you mean ${pathOf(nearest)}?`;
  return { path: shown, message: `${shown} is not a known field.${hint}` };
}

function rule({ keyword, params, message, instancePath, data }: Problem, choices: Choices): string {
  const limit = Number(params['limit']);
  switch (keyword) {
    case 'type':
      return `must be ${articleFor(String(params['type']))}${unquotedHint(String(params['type']), data)}`;
    case 'const':
      return `must be ${choices
        .get(instancePath)
        ?.map((choice) => String(choice.params['allowedValue']))
        .join(' or ')}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `needs at least ${limit} characters`;
    case 'maxLength':
      return `has at most ${limit} characters`;
    case 'minItems':
      return `needs at least ${limit === 1 ? '1 entry' : `${limit} entries`}`;
    case 'maxItems':
      return `has at most ${limit === 1 ? '1 entry' : `${limit} entries`}`;
    case 'maxProperties':
      return `has at most ${limit} keys`;
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    case 'format':
      return `must be ${formatName(String(params['format']))}`;
    case 'pattern':
      return 'does not have the right form';
    default:
      return message ?? 'does not match the API reference';
  }
}

/** For a number that was sent as text. Short ones only: a longer one may be a phone number. */
function unquotedHint(type: string, value: unknown): string {
  const isNumber = (type === 'number' || type === 'integer') && typeof value === 'string';
  return isNumber && /^\d{1,6}(\.\d{1,2})?$/.test(value) ? `: send ${value}, not "${value}"` : '';
}

function articleFor(type: string): string {
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}

function formatName(format: string): string {
  if (format === 'date-time') return 'a time such as 2026-11-20T10:18:00.000Z';
  if (format === timeOrDayFormat) return 'a time such as 2026-11-20T10:18:00.000Z, or a day such as 2026-11-20';
  if (format === 'email') return 'an email address';
  return format === 'uuid' ? 'an id' : `a ${format}`;
}
