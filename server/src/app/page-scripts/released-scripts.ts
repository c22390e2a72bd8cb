import { createHash } from 'node:crypto';

/** The hash of a script as a policy's source, `sha256-…`. */
export function hashOfScript(text: string | Uint8Array): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** The hashes of every script that this release sends: inline, and in files. Minifies them all, which takes a second. */
export async function readReleasedScripts(): Promise<ReadonlySet<string>> {
  // Only here: the other commands need no pages.
  const [checkout, collect, portal, dashboard, console] = await Promise.all([
    import('../../pages/checkout/checkout-renderer.ts'),
    import('../../pages/collect/collect-pages.ts'),
    import('../../portal/portal-pages.ts'),
    import('../../dashboard/dashboard-pages.ts'),
    import('../../console/console-pages.ts'),
  ]);
  return new Set(
    [
      checkout.checkoutScript.text,
      collect.collectScript.text,
      portal.portalAssets.scriptText(),
      dashboard.dashboardAssets.scriptText(),
      console.consoleAssets.scriptText(),
    ].map(hashOfScript),
  );
}
