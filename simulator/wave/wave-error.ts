/** An error response of the simulated Wave. */
export class WaveError extends Error {
  override name = 'WaveError';
  readonly status: number;
  readonly code: string;
  readonly details: readonly WaveErrorDetail[];

  constructor(status: number, code: string, message: string, details: readonly WaveErrorDetail[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

/** What is wrong with one field of a request. */
export interface WaveErrorDetail {
  loc: readonly string[];
  msg: string;
}

/** A body or parameter that breaks a rule; nothing was created. */
export function invalidRequest(field: string, message: string): WaveError {
  const details = [{ loc: field === '' ? ['body'] : ['body', field], msg: message }];
  return new WaveError(422, 'request-validation-error', 'Request invalid', details);
}

export function notFound(code: string): WaveError {
  return new WaveError(404, code, 'Not found.');
}

/** 503 is documented as "may have been executed". */
export function serviceUnavailable(): WaveError {
  return new WaveError(503, 'service-unavailable', 'Service temporarily unavailable.');
}
