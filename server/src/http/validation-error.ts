import type { FastifyError } from 'fastify';
import { AppError } from '../kit/app-error.ts';
import type { FieldError } from '../kit/app-error.ts';
import type { ErrorCode } from '../kit/error-codes.ts';
import { nearestName } from '../kit/nearest-name.ts';
import { timeOrDayFormat } from '../kit/time-range.ts';

type Problem = NonNullable<FastifyError['validation']>[number] & {
  parentSchema?: { properties?: Record<string, unknown> };
  /** The value that was judged. */
  data?: unknown;
};

interface Fault extends FieldError {
  code: ErrorCode;
}

// A body of a thousand unknown fields is told about the first ones.
const problemsMax = 20;

/** Turns what the schema found into sentences that name each field and say what it takes. */
export function validationError(error: FastifyError): AppError {
  // An id that cannot be one is not the id of anything.
  if (error.validationContext === 'params') return new AppError('not_found', 'There is nothing with this id.');
  const problems = problemsOfSentForm(error.validation ?? []);
  const choices = choicesByPath(problems);
  const fields = problems
    .filter((problem) => isReportable(problem, choices))
    .slice(0, problemsMax)
    .map((problem) => describe(problem, choices));
  const [first] = fields;
  if (!first) return new AppError('invalid_request', 'The request is not as the reference says.');
  const count = fields.length - 1;
  const more = count === 0 ? '' : ` ${count} more ${count === 1 ? 'is' : 'are'} in errors.`;
  // Code and sentence are about the same fault: the first one.
  return new AppError(first.code, first.message + more, {
    fields: fields.map(({ path, message }) => ({ path, message })),
  });
}

/** A body that may be bare or wrapped is judged as both; who wrapped it is told of `data` and of what is in it. */
function problemsOfSentForm(problems: Problem[]): Problem[] {
  const union = problems.find(({ keyword, instancePath }) => keyword === 'anyOf' && instancePath === '');
  if (!union) return problems;
  const { data } = union;
  const isWrapped = typeof data === 'object' && data !== null && Object.hasOwn(data, 'data');
  return problems.filter(({ schemaPath }) => schemaPath.startsWith(`${union.schemaPath}/${isWrapped ? 1 : 0}/`));
}

/**
 * A union tells of each branch and then of itself; the branches say more, and null says nothing. Where a field may have
 * certain values, each is told as a problem of its own, and its type as another: the first value names them all.
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
      return describeUnknown(problem, pathOf(String(params['additionalProperty'])));
    case 'required': {
      const path = pathOf(String(params['missingProperty']));
      return { path, message: `${path} is missing.` };
    }
    default:
      return { path: base, message: `${base === '' ? 'The body' : base} ${rule(problem, choices)}.` };
  }
}

function describeUnknown(problem: Problem, path: string): FieldError {
  const name = String(problem.params['additionalProperty']);
  const nearest = nearestName(name, Object.keys(problem.parentSchema?.properties ?? {}));
  const shown = path.length > 100 ? `${path.slice(0, 100)}…` : path;
  const hint = nearest === null ? '' : ` Did you mean ${nearest}?`;
  return { path: shown, message: `${shown} is not a known field.${hint}` };
}

function rule({ keyword, params, message, instancePath }: Problem, choices: Choices): string {
  const limit = Number(params['limit']);
  switch (keyword) {
    case 'type':
      return `must be ${articleFor(String(params['type']))}`;
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
      return message ?? 'is not as the reference says';
  }
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
