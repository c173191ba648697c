import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../lib/message-of.ts';
import { logTail } from './emulator.ts';
import { endAllProcesses } from './processes.ts';
import { rehearse } from './rehearse.ts';
import { Report, StepError } from './report.ts';

const workFolder = await mkdtemp(join(tmpdir(), 'dormouse-rehearsal-'));
const emulatorFolder = join(workFolder, 'emulator');
await mkdir(emulatorFolder);
const logs = { emulator: join(workFolder, 'emulator.log'), commands: join(workFolder, 'commands.log') };

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, async () => {
    console.error(`\n${signal}: ending what was started`);
    await endAllProcesses();
    await rm(workFolder, { recursive: true, force: true });
    process.exit(130);
  });
}

const report = new Report();
try {
  await rehearse(report, { root: join(import.meta.dirname, '../..'), workFolder, emulatorFolder, logs });
} catch (error) {
  if (!(error instanceof StepError)) report.check('the rehearsal itself', false, messageOf(error));
} finally {
  await endAllProcesses();
}

if (report.failed === 0) {
  await rm(workFolder, { recursive: true, force: true });
} else {
  await rm(emulatorFolder, { recursive: true, force: true });
  console.log(
    `\nThe end of the emulator's log (all logs are in ${workFolder}):\n${await logTail(logs.emulator)}`,
  );
}
console.log(`\n${report.summary()}`);
process.exitCode = report.failed === 0 ? 0 : 1;
