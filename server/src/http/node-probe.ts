import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { isCluster, listNodesDown } from './queries.ts';
import { repeatProbe } from './repeat-probe.ts';

export interface NodeProbe {
  /** The nodes of a cluster that do not answer its coordinator, as `host:port`; null where the database is no cluster. */
  nodesDown(): Promise<string[] | null>;
}

/** Probes the nodes of a cluster, at most every five seconds and only on request. */
export function createNodeProbe({ db, clock }: { db: Queryable; clock: Clock }): NodeProbe {
  const probe = async (): Promise<string[] | null> => ((await isCluster(db)) ? await listNodesDown(db) : null);
  return { nodesDown: repeatProbe<string[] | null>(clock, probe, { first: null, overdue: null }) };
}
