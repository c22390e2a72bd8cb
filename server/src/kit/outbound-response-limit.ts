import type { Socket } from 'node:net';

/** As it appears in the error's `code`. */
export const responseTooLargeCode = 'ANSWER_TOO_LARGE';

// 64 KB of text in the smallest chunks, the largest headers that are read, and what the buffers hold besides.
const wireBytesMax = 512 * 1024;

/**
 * Ends a connection that brings more bytes for one request than any answer needs. The limit of an answer's text does
 * not see them all: an answer that begins with endless empty lines, early hints, or the extension of a chunk is not
 * text, and would keep this process reading for as long as the request may take.
 */
export function limitResponses(socket: Socket): void {
  let written = socket.bytesWritten;
  let read = socket.bytesRead;
  let startedAt = read;
  socket.on('readable', () => {
    // A request has gone out since: what comes now belongs to the next answer.
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      startedAt = read;
    }
    read = socket.bytesRead;
    if (read - startedAt <= wireBytesMax) return;
    socket.destroy(Object.assign(new Error('The answer has no end.'), { code: responseTooLargeCode }));
  });
}
