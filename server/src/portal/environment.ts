/** The environment as it stands in addresses. */
export type Environment = 'test' | 'live';

/** Its part of a route's path. Both environments share a route, because a start takes as long as there are routes. */
export const environmentParameter = ':environment(test|live)';
