import type { SessionStatus } from './session.ts';

type ReportType = 'collection.opened' | 'collection.completed' | 'collection.failed' | 'collection.reversed';

/** News for the merchant's callback address, before it is put into words. */
export interface Report {
  type: ReportType;
  /** The status it tells of, which may be older than the session's. */
  status: SessionStatus;
  occursAt: Date;
  dueAt: Date;
}

export function completedReport(at: Date): Report {
  return { type: 'collection.completed', status: 'complete', occursAt: at, dueAt: at };
}

export function failedReport(at: Date): Report {
  return { type: 'collection.failed', status: 'failed', occursAt: at, dueAt: at };
}

export function reversedReport(at: Date): Report {
  return { type: 'collection.reversed', status: 'reversed', occursAt: at, dueAt: at };
}
