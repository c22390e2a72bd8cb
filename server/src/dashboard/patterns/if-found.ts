import { AppError } from '../../api/app-error.ts';

/** What a page only mentions: undefined where it has been deleted meanwhile. */
export async function ifFound<Record>(record: Promise<Record>): Promise<Record | undefined> {
  try {
    return await record;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}
