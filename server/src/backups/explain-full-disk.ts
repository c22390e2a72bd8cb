import { errorCode, StartError } from '../kit/start-error.ts';

/** Where `run`, or a server that it starts, finds the disk full, the operator reads the sentence instead of what followed from it. */
export async function explainFullDisk<Result>(sentence: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw isFullDisk(error) ? new StartError(sentence, { cause: error }) : error;
  }
}

function isFullDisk(error: unknown): boolean {
  const cause = error instanceof StartError ? error.cause : error;
  return errorCode(cause) === 'ENOSPC' || (cause instanceof Error && cause.message.includes('No space left on device'));
}
