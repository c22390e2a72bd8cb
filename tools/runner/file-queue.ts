import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const listName = 'files.json';
const claimsName = 'claims';

/** Test files that several processes take from, each file once. It is a directory, so that a process that ends early takes no other file with it. */
export class FileQueue {
  readonly directory: string;
  readonly #files: readonly string[];

  private constructor(directory: string, files: readonly string[]) {
    this.directory = directory;
    this.#files = files;
  }

  static create(directory: string, files: readonly string[]): FileQueue {
    mkdirSync(join(directory, claimsName), { recursive: true });
    writeFileSync(join(directory, listName), JSON.stringify(files));
    return new FileQueue(directory, files);
  }

  static open(directory: string): FileQueue {
    return new FileQueue(directory, JSON.parse(readFileSync(join(directory, listName), 'utf8')) as string[]);
  }

  /** How many files no process has taken. */
  left(): number {
    return this.#files.length - readdirSync(join(this.directory, claimsName)).length;
  }

  /** Takes files in order, one when the one before is done, until none is left. */
  *take(): Generator<string> {
    for (const [index, file] of this.#files.entries()) if (this.#claim(index)) yield file;
  }

  #claim(index: number): boolean {
    try {
      closeSync(openSync(join(this.directory, claimsName, String(index)), 'wx'));
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
      throw error;
    }
  }
}
