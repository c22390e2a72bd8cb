import { isIP } from 'node:net';

/** Whether a URL's hostname names this machine and nothing else: 127.0.0.0/8, ::1 or localhost (RFC 6761). */
export function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]') return true;
  return isIP(hostname) === 4 && hostname.startsWith('127.');
}
