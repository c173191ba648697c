import { formatTable } from '../../infra/demo/table.ts';
import { bundleLoads } from './bundle-loads.ts';
import { lifecycleRuns } from './lifecycle-runs.ts';
import { lifecycleTables } from './lifecycle-tables.ts';
import { warmCalls } from './warm-calls.ts';

/** Prints each figure beside its baseline, measured in the same run, and their ratio: that is what is comparable. */
const { sizes, ratios } = bundleLoads();
console.log(
  formatTable(
    ['bundle', 'kB', 'limit kB'],
    sizes.map(({ name, kB, limitKB }) => [name, kB, limitKB]),
  ),
);
console.log();
const rows = [...ratios, ...(await warmCalls())].map(({ what, ms, baseline, baselineMs }) => [
  ...[what, ms.toFixed(2), baseline, baselineMs.toFixed(2)],
  (ms / baselineMs).toFixed(2),
]);
console.log(formatTable(['measured', 'median ms', 'against', 'median ms', 'ratio'], rows));
for (const table of lifecycleTables(await lifecycleRuns())) console.log(`\n${table}`);
