import type { FastifyReply, FastifyRequest } from 'fastify';
import { english } from '../languages/languages.ts';
import { createPageSender } from './document.ts';
import { httpErrorPage } from './http-error-page.ts';
import { commonStyles, loadStyle } from './inline-asset.ts';
import { requestedLanguage } from './page-language.ts';

const style = loadStyle(...commonStyles);

/** The pages that browsers get where an API client gets an error as JSON: outside the scopes of pages. */
export function createBrowserErrors({ publicUrl }: { publicUrl: () => string }) {
  const sender = createPageSender({ publicUrl, style, script: null });
  // No form ends here, so a 400 is a malformed address: to whoever opened it, the same as an unknown one.
  const contentOf = (status: number, context: Parameters<typeof httpErrorPage>[1]) =>
    httpErrorPage(status === 400 ? 404 : status, context);
  return {
    /** `home` is the page to open again, if there is one. */
    send: (request: FastifyRequest, reply: FastifyReply, error: { status: number; home: string | null }) => {
      const { status, home } = error;
      const context = { language: requestedLanguage(request), home, requestId: request.id };
      return sender.send(request, reply, { status, content: contentOf(status, context) });
    },
    /** For bytes that never became a request. */
    render: (status: number, requestId: string) =>
      sender.render(contentOf(status, { language: english, home: null, requestId })),
  };
}
