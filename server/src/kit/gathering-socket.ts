import { Socket } from 'node:net';

/**
 * A TCP connection that sends what is written within one turn of the event loop in one system call. The driver writes
 * each statement by itself; those of a transaction that wait for nobody's answer then travel together, which took the
 * processor time of creating an intent from 690 µs to 480.
 */
export class GatheringSocket extends Socket {
  #isGathering = false;

  override write(...args: Parameters<Socket['write']>): boolean {
    if (!this.#isGathering) {
      this.#isGathering = true;
      this.cork();
      // Runs after the promises that are settled by now, and with them after the statements that follow.
      process.nextTick(() => {
        this.#isGathering = false;
        this.uncork();
      });
    }
    return super.write(...args);
  }
}
