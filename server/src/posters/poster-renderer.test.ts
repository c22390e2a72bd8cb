import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { PublicError } from '../kit/public-error.ts';
import { ByteCache, createPosterRenderer, type PosterRenderer } from './poster-renderer.ts';
import type { Poster } from './poster.ts';
import { samplePoster } from './poster.corpus.ts';

const renderers: PosterRenderer[] = [];

/**
 * A renderer whose thread draws nothing but obeys the merchant's name (`crash`, `hang`, `fail`), and otherwise returns the number
 * of requests so far.
 */
function rendererOf(clock = new ManualClock()): PosterRenderer {
  const program = `
    import { parentPort } from 'node:worker_threads';
    let count = 0;
    parentPort.on('message', ({ merchantName }) => {
      count += 1;
      if (merchantName === 'crash') throw new Error('crashed');
      if (merchantName === 'hang') return;
      if (merchantName === 'fail') parentPort.postMessage({ failure: 'failed' });
      else parentPort.postMessage({ bytes: new Uint8Array([count]) });
    });`;
  const renderer = createPosterRenderer({
    clock,
    entry: new URL(`data:text/javascript,${encodeURIComponent(program)}`),
  });
  renderers.push(renderer);
  return renderer;
}

after(async () => {
  for (const renderer of renderers) await renderer.close();
});

const poster = (merchantName: string) => samplePoster({ merchantName });

const render = (renderer: PosterRenderer, requested: Poster, merchantId = 'shop') =>
  renderer.render(merchantId, requested);

const isBusy = (error: unknown, retryAfterSeconds: number) =>
  error instanceof PublicError && error.code === 'unavailable' && error.retryAfterSeconds === retryAfterSeconds;

const isUnavailable = (error: unknown) => isBusy(error, 5);

describe('the renderer', () => {
  it('draws equal posters once, also if they are requested at the same time', async () => {
    const renderer = rendererOf();
    const [one, other] = await Promise.all([render(renderer, poster('Shop')), render(renderer, poster('Shop'))]);
    assert.deepEqual([[...one], [...other], [...(await render(renderer, poster('Shop')))]], [[1], [1], [1]]);
    assert.deepEqual([...(await render(renderer, poster('Another')))], [2]);
    const withLogo = { ...poster('Shop'), logo: new Uint8Array([1]) };
    assert.deepEqual([...(await render(renderer, withLogo))], [3]);
    assert.deepEqual([...(await render(renderer, { ...withLogo, logo: new Uint8Array([2]) }))], [4]);
  });

  it('starts a new thread after a crash, and says to try again', async () => {
    const renderer = rendererOf();
    assert.deepEqual([...(await render(renderer, poster('a')))], [1]);
    const [crashed, next] = [render(renderer, poster('crash')), render(renderer, poster('b'))];
    await assert.rejects(crashed, isUnavailable);
    assert.deepEqual([...(await next)], [1]);
  });

  it('ends a thread that takes too long, and draws the waiting posters with a new one', async () => {
    const clock = new ManualClock();
    const renderer = rendererOf(clock);
    assert.deepEqual([...(await render(renderer, poster('a')))], [1]);
    const [hung, next] = [render(renderer, poster('hang')), render(renderer, poster('b'))];
    const refused = assert.rejects(hung, isUnavailable);
    // Drawing has started, and with it the timeout.
    await clock.advance(0);
    await clock.advance(19_999);
    let isEnded = false;
    void refused.then(() => (isEnded = true));
    await clock.advance(0);
    assert.equal(isEnded, false);
    await clock.advance(1);
    await refused;
    assert.deepEqual([...(await next)], [1]);
  });

  it('keeps its thread after a poster that could not be drawn, which is an internal error', async () => {
    const renderer = rendererOf();
    await assert.rejects(render(renderer, poster('fail')), (error) => !(error instanceof PublicError));
    assert.deepEqual([...(await render(renderer, poster('a')))], [2]);
  });

  it('refuses a poster when 32 others of the merchant, or of all merchants, wait', async () => {
    const renderer = rendererOf();
    const hung = render(renderer, poster('hang'));
    const own = Array.from({ length: 31 }, (_, index) => render(renderer, poster(String(index))));
    await assert.rejects(render(renderer, poster('one too many')), (error) => isBusy(error, 1));
    const others = Array.from({ length: 28 }, (_, index) =>
      render(renderer, poster(`of ${index}`), `another ${index}`),
    );
    await assert.rejects(render(renderer, poster('one too many'), 'one more'), isUnavailable);
    const ended = Promise.allSettled([hung, ...own, ...others]);
    await renderer.close();
    for (const { status } of await ended) assert.equal(status, 'rejected');
    await assert.rejects(render(renderer, poster('late')), isUnavailable);
  });

  it('draws for one merchant while another waits for many', async () => {
    const clock = new ManualClock();
    const renderer = rendererOf(clock);
    const drawn: string[] = [];
    const note = async (name: string, merchantId?: string) => {
      await render(renderer, poster(name), merchantId);
      drawn.push(name);
    };
    const hung = render(renderer, poster('hang'));
    const batch = Array.from({ length: 31 }, (_, index) => note(String(index)));
    const other = note('of another', 'another');
    const refused = assert.rejects(hung, isUnavailable);
    await clock.advance(0);
    await clock.advance(20_000);
    await refused;
    await Promise.all([...batch, other]);
    assert.deepEqual(drawn.slice(0, 4), ['0', '1', '2', 'of another']);
    assert.equal(drawn.length, 32);
  });

  it('releases its thread’s memory a minute after the last poster', async () => {
    const clock = new ManualClock();
    const renderer = rendererOf(clock);
    assert.deepEqual([...(await render(renderer, poster('a')))], [1]);
    await clock.advance(59_999);
    assert.deepEqual([...(await render(renderer, poster('b')))], [2]);
    await clock.advance(59_999);
    assert.deepEqual([...(await render(renderer, poster('c')))], [3]);
    await clock.advance(60_000);
    let count = 0;
    await eventually('a new thread draws', async () => {
      count += 1;
      return (await render(renderer, poster(`d${count}`)))[0] === 1;
    });
  });
});

describe('the cache of posters', () => {
  it('evicts the least recently used posters beyond its limit of bytes', () => {
    const cache = new ByteCache(10);
    const bytes = (length: number) => new Uint8Array(length);
    cache.set('a', bytes(4));
    cache.set('b', bytes(4));
    assert.equal(cache.get('a')?.length, 4);
    cache.set('c', bytes(4));
    assert.deepEqual([cache.get('a')?.length, cache.get('b')?.length, cache.get('c')?.length], [4, undefined, 4]);
    cache.set('a', bytes(6));
    assert.deepEqual([cache.get('a')?.length, cache.get('c')?.length], [6, 4]);
    cache.set('huge', bytes(11));
    assert.deepEqual([cache.get('huge'), cache.get('a')?.length], [undefined, 6]);
    cache.set('whole', bytes(10));
    assert.deepEqual([cache.get('a'), cache.get('c'), cache.get('whole')?.length], [undefined, undefined, 10]);
  });
});
