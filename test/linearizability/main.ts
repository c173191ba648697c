import type { Findings, Simulation } from './faulty-writers.ts';
import { simulateMemory } from './memory/simulation.ts';
import { simulateCounters } from './runs/counters.ts';
import { simulateLeases } from './runs/leases.ts';
import { simulateRuns } from './runs/simulation.ts';
import { simulateSnapshots } from './snapshots/simulation.ts';

const kinds: Record<
  string,
  [(simulation: Simulation) => Promise<Findings>, { keys: number; callsPerWriter: number }]
> = {
  snapshots: [simulateSnapshots, { keys: 120, callsPerWriter: 12 }],
  memory: [simulateMemory, { keys: 100, callsPerWriter: 5 }],
  runs: [simulateRuns, { keys: 100, callsPerWriter: 1 }],
  leases: [simulateLeases, { keys: 100, callsPerWriter: 3 }],
  counters: [simulateCounters, { keys: 100, callsPerWriter: 6 }],
};

/** `npm run check:linearizable [seed] [kind…]`: prints what was done and found; the same seed makes the same choices. */
const given = process.argv.slice(2);
const seed = Number(given.find((argument) => /^\d+$/.test(argument)) ?? Date.now() % 1_000_000);
const wanted = given.filter((argument) => !/^\d+$/.test(argument));
const strange = wanted.find((kind) => !(kind in kinds));
if (strange !== undefined) throw new Error(`${strange} is none of ${Object.keys(kinds).join(', ')}`);

let found = 0;
for (const [kind, [simulate, size]] of Object.entries(kinds))
  if (wanted.length === 0 || wanted.includes(kind)) {
    const simulation = { seed, writers: 4, faultRate: 0.3, ...size };
    const started = performance.now();
    const findings = await simulate(simulation);
    report(kind, simulation, findings, performance.now() - started);
    found += findings.violations.length + findings.torn.length + findings.orphans.length;
  }
process.exit(found === 0 ? 0 : 1);

function report(kind: string, simulation: Simulation, findings: Findings, ms: number): void {
  const { calls, unknown, requests, faults, violations, torn, orphans } = findings;
  const broken = new Set(violations.map(({ key }) => key));
  console.log(`${kind}, seed ${seed}: ${JSON.stringify(simulation)}`);
  console.log(`  ${calls} calls, of which ${unknown} have an unknown outcome; ${requests} requests`);
  console.log(`  faults: ${JSON.stringify(faults)}`);
  console.log(`  ${broken.size} of ${simulation.keys} histories break a law`);
  console.log(`  ${torn.length} torn, ${orphans.length} orphan rows; ${Math.round(ms)} ms`);
  for (const line of [...torn, ...orphans].slice(0, 20)) console.log(`  ${line}`);
  for (const { key, law } of violations.slice(0, 20)) console.log(`  ${key}: ${law}`);
  const [first] = violations;
  if (first === undefined) return;
  console.log(`  the history of ${first.key}:`);
  for (const operation of first.history.toSorted((a, b) => a.from - b.from))
    console.log(`  ${JSON.stringify(operation)}`);
}
