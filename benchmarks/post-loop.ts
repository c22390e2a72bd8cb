/**
 * The bare loop that deliveries are compared with: the same client with the same settings posts the same request again
 * and again, on the given number of connections, and reads each response to its end.
 */
import { Agent } from 'undici';
import { printResult, programOptions } from './harness/program.ts';

export interface PostLoopOptions {
  url: string;
  headers: Record<string, string>;
  body: string;
  connections: number;
  seconds: number;
}

export interface PostLoopResult {
  postsPerSecond: number;
  failures: number;
}

// Until the code is compiled.
const warmUpMs = 1_500;

async function postLoop(options: PostLoopOptions): Promise<PostLoopResult> {
  const { connections, seconds } = options;
  const { post, close } = bareClient(options);
  let failures = 0;
  const postUntil = async (endsAt: number): Promise<number> => {
    let posts = 0;
    const postAgain = async (): Promise<void> => {
      while (performance.now() < endsAt) {
        if (!(await post())) failures += 1;
        posts += 1;
      }
    };
    await Promise.all(Array.from({ length: connections }, postAgain));
    return posts;
  };
  await postUntil(performance.now() + warmUpMs);
  const beganAt = performance.now();
  const posts = await postUntil(beganAt + seconds * 1_000);
  const postsPerSecond = (posts / (performance.now() - beganAt)) * 1_000;
  await close();
  return { postsPerSecond, failures };
}

interface Client {
  /** Whether the server accepted it. */
  post(): Promise<boolean>;
  close(): Promise<void>;
}

function bareClient({ url, headers, body, connections }: PostLoopOptions): Client {
  // As in server/src/kit/outbound-http.ts.
  const agent = new Agent({ connections, pipelining: 1, allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
  const { origin, pathname: path } = new URL(url);
  const bytes = Buffer.from(body);
  return {
    post: async () => {
      const response = await agent.request({ origin, path, method: 'POST', headers, body: bytes });
      await response.body.dump();
      return response.statusCode < 300;
    },
    close: () => agent.close(),
  };
}

printResult(await postLoop(programOptions<PostLoopOptions>()));
