import { simulate } from './simulation.ts';

/** `npm run check:linearizable [seed]`: prints what was done and found; the same seed makes the same choices. */
const seed = Number(process.argv[2] ?? Date.now() % 1_000_000);
const simulation = { seed, keys: 120, writers: 4, callsPerWriter: 12, faultRate: 0.3 };
const started = performance.now();
const { calls, unknown, requests, faults, unexplained, torn, orphans } = await simulate(simulation);

console.log(`seed ${seed}: ${JSON.stringify(simulation)}`);
console.log(`${calls} calls, of which ${unknown} have an unknown outcome; ${requests} requests`);
console.log(`faults: ${JSON.stringify(faults)}`);
console.log(`${Object.keys(unexplained).length} of ${simulation.keys} histories are not linearizable`);
console.log(
  `${torn.length} torn, ${orphans.length} orphan rows; ${Math.round(performance.now() - started)} ms`,
);
for (const line of [...torn, ...orphans].slice(0, 20)) console.log(line);
const [bad] = Object.entries(unexplained);
if (bad !== undefined) {
  console.log(`the history of ${bad[0]}:`);
  for (const operation of bad[1].toSorted((a, b) => a.from - b.from)) console.log(JSON.stringify(operation));
}
process.exit(Object.keys(unexplained).length + torn.length + orphans.length === 0 ? 0 : 1);
