import type { Findings, Simulation } from './faulty-writers.ts';
import { simulateMemory } from './memory/simulation.ts';
import { simulateSnapshots } from './snapshots/simulation.ts';

/** `npm run check:linearizable [seed [kind]]`: prints what was done and found; the same seed makes the same choices. */
const seed = Number(process.argv[2] ?? Date.now() % 1_000_000);
const common = { seed, writers: 4, faultRate: 0.3 };
const kinds: Record<string, [(simulation: Simulation) => Promise<Findings>, Simulation]> = {
  snapshots: [simulateSnapshots, { ...common, keys: 120, callsPerWriter: 12 }],
  memory: [simulateMemory, { ...common, keys: 100, callsPerWriter: 5 }],
};
const only = process.argv[3];

let found = 0;
for (const [kind, [simulate, simulation]] of Object.entries(kinds)) {
  if (only !== undefined && only !== kind) continue;
  const started = performance.now();
  const findings = await simulate(simulation);
  const { calls, unknown, requests, faults, violations, torn, orphans } = findings;
  console.log(`${kind}: ${JSON.stringify(simulation)}`);
  console.log(`  ${calls} calls, of which ${unknown} have an unknown outcome; ${requests} requests`);
  console.log(`  faults: ${JSON.stringify(faults)}`);
  const keys = new Set(violations.map(({ key }) => key));
  console.log(`  ${keys.size} of ${simulation.keys} histories are not as they must be`);
  const ms = Math.round(performance.now() - started);
  console.log(`  ${torn.length} torn, ${orphans.length} orphan rows; ${ms} ms`);
  for (const line of [...torn, ...orphans].slice(0, 20)) console.log(`  ${line}`);
  for (const { key, law } of violations.slice(0, 20)) console.log(`  ${key}: ${law}`);
  const [first] = violations;
  if (first !== undefined) {
    console.log(`  the history of ${first.key}:`);
    for (const operation of first.history.toSorted((a, b) => a.from - b.from))
      console.log(`  ${JSON.stringify(operation)}`);
  }
  found += violations.length + torn.length + orphans.length;
}
process.exit(found === 0 ? 0 : 1);
