import type { AccountContext } from '../../accounts/context.ts';
import type { MerchantAction, OperatorAction, Permission } from '../../accounts/permissions.ts';
import type { SignedIn } from '../../accounts/sessions.ts';
import type { Html } from '../../kit/html.ts';

/** What a page was asked with. */
export interface PageInput {
  params: Readonly<Record<string, string>>;
  /** A parameter that was sent twice counts as its last. */
  query: Readonly<Record<string, string>>;
  /** The fields of a posted form; empty for a GET. */
  form: Readonly<Record<string, string>>;
  /** The files of a form of a route with `uploadBytesMax`. */
  files: Readonly<Record<string, Uint8Array>>;
}

/** A page as a handler returns it; the frame is put around it. */
export interface Page {
  status?: number;
  /** Of the tab; the frame adds business and environment. */
  title: string;
  body: Html;
  /** More for the document's head. */
  head?: Html;
  /** `screen`: without navigation, for a tablet that shows one thing all day. */
  frame?: 'screen';
}

/** A file to download. */
export interface Download {
  name: string;
  contentType: string;
  bytes: Uint8Array | AsyncIterable<Uint8Array | string>;
  /** True for what is shown in the page, such as a picture. */
  isInline?: boolean;
}

/** `redirect` is below the visit's `base` and begins with a slash; `redirectTo` is a whole path. */
export type PageResult = Page | { redirect: string } | { redirectTo: string } | { download: Download };

/** An action of either table of `accounts/permissions.ts`. */
export type AnyAction = MerchantAction | OperatorAction;

/** One request of a signed-in person with what its page reads and acts with, as far as dashboard and console have it in common. */
export interface PortalVisit<Action extends AnyAction = AnyAction> extends SignedIn {
  accounts: AccountContext;
  requestId: string;
  /** The address it came from. */
  address: string;
  /** The head of the addresses that the visit's links are below. */
  base: string;
  /** How the names of exported files begin: whose they are, and of which environment. */
  fileHead: readonly string[];
  /** The page of the person's own login. */
  accountPath: string;
  now: Date;
  /** The hidden field of every form. */
  guardField: Html;
  /** What this person may do here; for the request itself, and for the links and buttons that lead to it. */
  may(action: Action): Permission;
}

/** The types of one set of pages: the dashboard's, or the console's. */
export interface PortalKind {
  visit: PortalVisit;
  action: AnyAction;
  section: string;
  /** What a handler may return besides a page, such as a stream. */
  more: object;
}

/** A page or an action. */
export interface PageRoute<Kind extends PortalKind> {
  /** Left out by a page. */
  method?: 'GET' | 'POST';
  path: string;
  /**
   * Who may do it (`accounts/permissions.ts`). For those with the rule `own`, the handler shows only what is their own counters'.
   * A POST that needs the second factor gets it checked before `handle` runs.
   */
  action: Kind['action'];
  /** Of a POST that takes a file: the most bytes that a browser may send. Other forms are never read as a file's. */
  uploadBytesMax?: number;
  /**
   * For a POST whose second factor or permission depends on what was typed, such as a refund above the limit: an action that
   * is asked for besides `action`, before `handle` runs. Refusals of its own are shown as those of `handle`.
   */
  actionOf?(visit: Kind['visit'], input: PageInput): Promise<Kind['action']>;
  handle(visit: Kind['visit'], input: PageInput): Promise<PageResult | Kind['more']>;
  /** The form once more, with what is wrong about it; for a POST whose `handle` may refuse. */
  refuse?(visit: Kind['visit'], input: PageInput, error: unknown): Promise<PageResult>;
}

/** A route with the part of the navigation that it belongs to. */
export type SectionRoute<Kind extends PortalKind> = PageRoute<Kind> & {
  method: 'GET' | 'POST';
  section: Kind['section'];
};

export function inSection<Kind extends PortalKind>(
  section: Kind['section'],
  routes: readonly PageRoute<Kind>[],
): SectionRoute<Kind>[] {
  return routes.map((route) => ({ method: 'GET', ...route, section }));
}
