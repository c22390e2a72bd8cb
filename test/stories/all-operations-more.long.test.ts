import { testWalks } from '../walks/test-walks.ts';

// The other half of the thousand, so that each part of the long run ends within an hour.
testWalks({ walks: 500, commandsPerWalk: 50 });
