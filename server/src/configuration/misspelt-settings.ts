import { distance } from 'fastest-levenshtein';
import { settings } from './settings.ts';

// Shorter names, such as HOST, are too close to the variables of every shell; and Kubernetes sets DALASI_PORT for a service that is
// called dalasi.
const lengthMin = 7;
// Two letters too many, missing or changed, or a pair that changed places; the first letter is right. Hosting machines set EXTERNAL_URL
// and FTP_URL, which are no INTERNAL_URL and SMTP_URL.
const distanceMax = 2;

/**
 * A sentence for each variable of the environment that looks like a setting and is none: a mistyped name would silently leave the
 * default. Where the setting that it means is set too, the other name is somebody else's.
 */
export function misspeltSettings(environment: Readonly<Record<string, string | undefined>>): string[] {
  const isSet = (name: string): boolean => (environment[name]?.trim() ?? '') !== '';
  const typed = Object.keys(environment).filter((name) => isSet(name) && settings.every((each) => each.name !== name));
  return typed.flatMap((name) => {
    const words = name.toUpperCase().replace(/^DALASI_/, '');
    const meant = settings.find(
      ({ name: known }) => known.length >= lengthMin && words[0] === known[0] && distance(words, known) <= distanceMax,
    );
    return meant === undefined || isSet(meant.name) ? [] : [`${name} is no setting. Did you mean ${meant.name}?`];
  });
}
