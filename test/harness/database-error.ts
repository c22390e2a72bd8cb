import pg from 'pg';

/** An error as the database server sends it. */
export function databaseError(code: string, message: string): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code, severity: 'ERROR' });
}
