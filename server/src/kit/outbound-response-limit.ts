import type { Socket } from 'node:net';

/** The error's `code`. */
export const responseTooLargeCode = 'ANSWER_TOO_LARGE';

// 64 KB of body in the smallest chunks, the largest headers, and what the buffers hold.
const wireBytesMax = 512 * 1024;

/**
 * Closes a connection that sends more bytes for one request than any response needs. The limit of the body does not count
 * all of them: endless empty lines, early hints or chunk extensions are no body, and would keep this process reading until the
 * time limit.
 */
export function limitResponses(socket: Socket): void {
  let written = socket.bytesWritten;
  let read = socket.bytesRead;
  let startedAt = read;
  socket.on('readable', () => {
    // A request was sent since: these bytes belong to the next response.
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      startedAt = read;
    }
    read = socket.bytesRead;
    if (read - startedAt <= wireBytesMax) return;
    socket.destroy(Object.assign(new Error('The response has no end.'), { code: responseTooLargeCode }));
  });
}
