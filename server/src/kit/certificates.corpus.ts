import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';

// Certificates are made while the test runs, so that no private key lies in the repository. Just enough of DER for
// what OpenSSL looks at.

export interface TestCertificate {
  key: string;
  cert: string;
}

export interface Issuer extends TestCertificate {
  name: string;
  privateKey: KeyObject;
}

export interface Leaf {
  /** Names and IPv4 addresses that it vouches for. */
  hosts: readonly string[];
  /** Default: long ago. */
  from?: Date;
  /** Default: in a long time. */
  until?: Date;
}

export function certificateAuthority(name: string): Issuer {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const extensions = [extension('551d13', der(0x30, der(0x01, Buffer.from([0xff]))))];
  const made = certificate({ subject: name, issuer: name, publicKey: pair.publicKey, extensions }, pair.privateKey);
  return { key: pem(pair.privateKey), cert: made, name, privateKey: pair.privateKey };
}

export function certificateFor(leaf: Leaf, issuer: Issuer): TestCertificate {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = leaf.hosts.map((host) =>
    isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
  );
  const parts = {
    subject: leaf.hosts[0] ?? '',
    issuer: issuer.name,
    publicKey: pair.publicKey,
    extensions: [extension('551d11', der(0x30, ...names))],
    from: leaf.from,
    until: leaf.until,
  };
  return { key: pem(pair.privateKey), cert: certificate(parts, issuer.privateKey) };
}

/** Nobody vouches for it. */
export function selfSignedCertificate(host: string): TestCertificate {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const parts = { subject: host, issuer: host, publicKey: pair.publicKey, extensions: [] };
  return { key: pem(pair.privateKey), cert: certificate(parts, pair.privateKey) };
}

interface CertificateParts {
  subject: string;
  issuer: string;
  publicKey: KeyObject;
  extensions: readonly Buffer[];
  from?: Date | undefined;
  until?: Date | undefined;
}

function certificate(parts: CertificateParts, signWith: KeyObject): string {
  const { from = new Date('2020-01-01T00:00:00Z'), until = new Date('2099-12-31T23:59:59Z') } = parts;
  const ecdsaWithSha256 = der(0x30, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const toSign = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1]), randomBytes(8)),
    ecdsaWithSha256,
    commonName(parts.issuer),
    der(0x30, time(from), time(until)),
    commonName(parts.subject),
    parts.publicKey.export({ type: 'spki', format: 'der' }),
    ...(parts.extensions.length === 0 ? [] : [der(0xa3, der(0x30, ...parts.extensions))]),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', toSign, signWith));
  const text = der(0x30, toSign, ecdsaWithSha256, signature).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${(text.match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, ...parts: Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function extension(objectId: string, value: Buffer): Buffer {
  return der(0x30, der(0x06, Buffer.from(objectId, 'hex')), der(0x04, value));
}

function commonName(text: string): Buffer {
  const attribute = der(0x30, der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from(text)));
  return der(0x30, der(0x31, attribute));
}

function time(at: Date): Buffer {
  return der(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)}Z`));
}

function pem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
