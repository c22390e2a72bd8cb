import type { Lockfile } from './lockfile.ts';

const daysMin = 7;
const dayMs = 24 * 60 * 60 * 1_000;

interface Compared {
  before: Lockfile;
  after: Lockfile;
  publishedAt: (name: string, version: string) => Date;
  now: Date;
}

/** The packages that the second lockfile has and the first has not, and that were published less than a week ago, or nobody knows when. */
export function findYoungPackages({ before, after, publishedAt, now }: Compared): string[] {
  const known = versionsOf(before);
  const added = [...versionsOf(after)].filter((each) => !known.has(each));
  return added.flatMap((each) => {
    const at = each.lastIndexOf('@');
    const days = (now.getTime() - publishedAt(each.slice(0, at), each.slice(at + 1)).getTime()) / dayMs;
    if (days >= daysMin) return [];
    return [
      Number.isNaN(days) ? `${each}: nobody knows when it was published` : `${each} is ${Math.floor(days)} days old`,
    ];
  });
}

function versionsOf({ packages }: Lockfile): Set<string> {
  const entries = Object.entries(packages).filter(([location]) => location !== '');
  return new Set(
    entries.map(
      ([location, { version = '' }]) => `${location.slice(location.lastIndexOf('node_modules/') + 13)}@${version}`,
    ),
  );
}
