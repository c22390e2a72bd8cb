/** An error response of the simulated Wave. */
export class WaveError extends Error {
  override name = 'WaveError';
  readonly status: number;
  readonly code: string;
  readonly detail: WaveErrorDetail | null;

  constructor(status: number, code: string, message: string, detail: WaveErrorDetail | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.detail = detail;
  }
}

/** What is wrong with one field of a request. */
export interface WaveErrorDetail {
  path: readonly string[];
  message: string;
}

/** A body or parameter that breaks a rule; nothing was created. */
export function invalidRequest(field: string, message: string): WaveError {
  const path = field === '' ? ['body'] : ['body', field];
  return new WaveError(422, 'request-validation-error', 'Request invalid', { path, message });
}

export function notFound(code: string): WaveError {
  return new WaveError(404, code, 'Not found.');
}

/** 503 is documented as "may have been executed". */
export function serviceUnavailable(): WaveError {
  return new WaveError(503, 'service-unavailable', 'Service temporarily unavailable.');
}
