const windowMs = 1_000;
const saturatedShare = 0.95;

/**
 * Returns whether the event loop of this process had no rest during the last second or so. Calls of others take longer then because
 * their responses wait for this process.
 */
export function createSaturationMeter(): () => boolean {
  let before = performance.eventLoopUtilization();
  let isSaturated = false;
  return () => {
    const { active, idle, utilization } = performance.eventLoopUtilization(before);
    if (active + idle >= windowMs) {
      isSaturated = utilization >= saturatedShare;
      before = performance.eventLoopUtilization();
    }
    return isSaturated;
  };
}
