/** A part of the long run, which ends within an hour. */
export interface LongPart {
  name: string;
  /** Longer for a part whose load alone takes an hour, or SOAK_HOURS. */
  minutesMax?: number;
  /** A file belongs to the first part whose pattern its path matches. */
  files: RegExp;
}

export const longParts: readonly LongPart[] = [
  { name: 'money-walk', files: /money-walk/ },
  { name: 'all-operations', files: /all-operations\.test/ },
  { name: 'all-operations-more', files: /all-operations-more/ },
  { name: 'walks', files: /random-walks/ },
  { name: 'amounts', files: /kit\/money|shares\.long|divide-refund|random-books/ },
  { name: 'crashes-payment', files: /crash-(?:payment|shared|network)/ },
  { name: 'crashes-requests', files: /crash-collected-requests/ },
  { name: 'crashes-work', files: /crash-collected-work/ },
  { name: 'crashes-transfer', files: /crash-/ },
  { name: 'database', files: /database-faults/ },
  { name: 'alerts', files: /alerts\.long/ },
  { name: 'simulation', files: /simulation/ },
  { name: 'histories', files: /histories/ },
  { name: 'load', files: /mixed-load/ },
  { name: 'soak', files: /soak/, minutesMax: 30 + 60 * Number(process.env['SOAK_HOURS'] ?? 1) },
  { name: 'restores', files: /restore-payouts/ },
  { name: 'processes', files: /process-/ },
  { name: 'webhooks', files: /webhook-|test\/examples/ },
  { name: 'hostile', files: /hostile-(?:json|texts)|unknown-fields|outbound-guard|generated-requests/ },
  { name: 'pages', files: /-pages|page-limits|poster/ },
  { name: 'requests', files: /./ },
];

/** The name of the part that runs a file. */
export function partOf(path: string): string {
  return longParts.find(({ files }) => files.test(path))?.name ?? '';
}
