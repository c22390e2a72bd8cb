import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../api/app-error.ts';
import type { PortalParts } from './portal-scope.ts';
import { requireSignedInFirst } from './sign-in/signed-in-only.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The files of a multipart form, by the names of their fields. */
    uploadedFiles?: Readonly<Record<string, Uint8Array>>;
  }
}

/**
 * Registers a route; one that takes a file in a scope of its own, so that no other route reads a form as a file's. Whoever has not
 * signed in is led to the sign-in before anything of the file is read: it would be held in memory.
 */
export function registerWithFiles(
  scope: FastifyInstance,
  { parts, uploadBytesMax }: { parts: PortalParts; uploadBytesMax: number | undefined },
  register: (target: FastifyInstance) => void,
): void {
  if (uploadBytesMax === undefined) {
    register(scope);
    return;
  }
  scope.register(async (target) => {
    requireSignedInFirst(target, parts);
    acceptFiles(target, uploadBytesMax);
    register(target);
  });
}

/**
 * Lets the routes of a scope take forms with a file. The runtime itself parses them, as its `fetch` does, so no package is
 * needed: a form of bounded size is held in memory for as long as its request.
 */
function acceptFiles(scope: FastifyInstance, bytesMax: number): void {
  scope.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer', bodyLimit: bytesMax },
    async (request: FastifyRequest, body: Buffer) => {
      const headers = { 'content-type': request.headers['content-type'] ?? '' };
      // oxlint-disable-next-line typescript/no-deprecated -- it is for bodies without a bound; this one has been read within its limit
      const form = await new Response(new Uint8Array(body), { headers }).formData().catch((error: unknown) => {
        throw new AppError('invalid_request', 'The form did not arrive whole. Send it again.', { cause: error });
      });
      const entries = [...form.entries()];
      const files: Record<string, Uint8Array> = {};
      for (const [name, value] of entries) {
        if (typeof value !== 'string') files[name] = new Uint8Array(await value.arrayBuffer());
      }
      request.uploadedFiles = files;
      return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'));
    },
  );
}

export function filesOf({ uploadedFiles }: FastifyRequest): Readonly<Record<string, Uint8Array>> {
  return uploadedFiles ?? {};
}
