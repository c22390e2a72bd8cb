import type { MerchantAction } from '../accounts/permissions.ts';
import type { Topic } from '../kit/changes.ts';
import type { PageRoute } from '../portal/patterns/page-route.ts';
import type { Visit } from './visit.ts';

/** The part of the dashboard that a page belongs to, which the navigation marks. */
export type Section =
  | 'home'
  | 'search'
  | 'payments'
  | 'refunds'
  | 'receipts'
  | 'links'
  | 'counters'
  | 'balance'
  | 'transfers'
  | 'customers'
  | 'sub-accounts'
  | 'groups'
  | 'split'
  | 'keys'
  | 'endpoints'
  | 'events'
  | 'requests'
  | 'reference'
  | 'settings'
  | 'team'
  | 'audit'
  | 'more';

/** What an open page is told of, for as long as it is open. */
export interface LiveFeed {
  /** The page that listens, below the visit's base; for whoever opens the stream's address. */
  page: string;
  /** What the feed shows changes with these topics. */
  topics: readonly Topic[];
  /** True for a screen that stands open all day: looking at it keeps its session alive. */
  isUse?: boolean;
  /** What there is to tell now; called on each change, and every ten seconds because a notification may be lost. */
  read(visit: Visit): Promise<readonly LiveEvent[]>;
}

/** `data` is markup that `html` has made, or JSON. */
export interface LiveEvent {
  name: string;
  data: string;
}

/** The types of the dashboard's pages. */
export interface DashboardKind {
  visit: Visit;
  action: MerchantAction;
  section: Section;
  more: { live: LiveFeed };
}

/** A page or an action of the dashboard. Paths are below `/dashboard/{environment}/{merchant}`. */
export type DashboardRoute = PageRoute<DashboardKind>;
