/** The light colours of pages/style.css and the marks of pages/controls.css; a test compares them. */
export const colours = {
  card: '#fff',
  ink: '#15211c',
  soft: '#526159',
  line: '#d9e0da',
  accent: '#0b6a55',
  'accent-deep': '#08513f',
  tint: '#e4f1ec',
  wait: '#7a4d00',
  'wait-tint': '#fff3d9',
} as const;

const networkColours: ReadonlyMap<string, string> = new Map([
  ['wave', '#0d6e9e'],
  ['afrimoney', '#a02c54'],
  ['qmoney', '#5c489e'],
  ['aps', '#6b5b00'],
]);

/** The background of a network's mark. */
export function networkColour(networkId: string): string {
  return networkColours.get(networkId) ?? '#4a5a53';
}
