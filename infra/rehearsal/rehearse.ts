import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { adaptTemplate } from './adapt-template.ts';
import { awsCalls } from './aws-calls.ts';
import { allowAssetsWithoutTls, type Cdk, cdk, changedNothing } from './cdk.ts';
import { checkAlarms } from './check-alarms.ts';
import { checkCallers } from './check-callers.ts';
import { checkGrants } from './check-grants.ts';
import { checkLogs } from './check-logs.ts';
import { modelContext } from './check-model-action.ts';
import { prepareSchedules } from './check-schedules.ts';
import { startEmulator } from './emulator.ts';
import { lambdaNodeFolder } from './lambda-node.ts';
import { startModel } from './model.ts';
import { rehearseLifecycle } from './rehearse-lifecycle.ts';
import type { Report } from './report.ts';
import { ownedBy, unseenTypes } from './resource-lists.ts';
import { stackExists } from './stack-resources.ts';
import { runSuite } from './suite.ts';
import { countTypes, output, readStack, templateFile } from './template.ts';
import { emulatorProgram } from './venv.ts';

export interface RehearsalFolders {
  readonly root: string;
  readonly workFolder: string;
  readonly emulatorFolder: string;
  readonly logs: { readonly emulator: string; readonly commands: string };
}

/** From nothing to a deployed, tested and removed stack. Rejects when a step fails that the next ones need. */
export async function rehearse(report: Report, folders: RehearsalFolders): Promise<void> {
  const { root, workFolder, emulatorFolder, logs } = folders;
  const logFile = logs.commands;
  const program = await report.step('Python environment', () => emulatorProgram(root, logFile));
  const nodeFolder = await report.step('Node.js of the Lambda runtime', () => lambdaNodeFolder(root));
  const options = { program, nodeFolder, folder: emulatorFolder, logFile: logs.emulator };
  const emulator = await report.step('start the emulator', () => startEmulator(options));
  const endpoint = emulator.url;
  const aws = awsCalls(endpoint);
  const model = await startModel();
  const context = modelContext(model);
  const { bootstrap, synth, deploy, destroy } = cdk({ root, endpoint, workFolder, logFile, context });

  await report.step('cdk bootstrap', async () => {
    await bootstrap();
    await allowAssetsWithoutTls(aws);
  });

  const first = await report.step('cdk synth', () => synthesize(synth, join(workFolder, 'first')));
  const stack = await report.step('cdk deploy', async () => {
    await deploy(first);
    const deployed = await readStack(first);
    console.log(`   ${deployed.name}: ${countTypes(deployed.template)}`);
    for (const [name, value] of Object.entries(deployed.outputs)) console.log(`   ${name} = ${value}`);
    report.check('the stack is there', await stackExists(aws, deployed.name));
    return deployed;
  });

  const caller = await report.step('who may call', () => checkCallers(report, aws, endpoint, stack));
  const { host } = new URL(output(stack, 'ApiUrl'));
  const api = { endpoint, host, credentials: caller };
  await prepareSchedules(api);

  await report.step('black-box suite', async () => {
    const result = await runSuite({ root, endpoint, host, caller, folder: workFolder, logFile });
    console.log(`   ${result.passed} passed, ${result.failed} failed, ${result.skipped} skipped`);
    report.count(result.passed, result.failed);
    report.check('the suite ran', result.passed + result.failed > 0, 'it has no test');
  });

  const refused = await rehearseLifecycle(report, aws, api, stack, model);

  await report.step('grants, logs and alarms', async () => {
    await checkGrants(report, aws, emulator, stack, refused);
    await checkLogs(report, aws, stack);
    await checkAlarms(report, aws, stack);
  });

  await report.step('cdk deploy, once more', async () => {
    const second = await synthesize(synth, join(workFolder, 'second'));
    report.check('it changes nothing', changedNothing(await deploy(second)), `see ${logFile}`);
  });

  await report.step('cdk destroy', async () => {
    const unseen = unseenTypes(await ownedBy(aws, stack.name), stack.template);
    report.check('all that is listed of the stack is seen', unseen.length === 0, `not ${unseen.join(', ')}`);
    await destroy(first);
    report.check('the stack is gone', !(await stackExists(aws, stack.name)));
    const left = [...(await ownedBy(aws, stack.name)).values()].flat();
    report.check('nothing of it is left', left.length === 0, left.join(', '));
  });

  await report.step('stop the emulator', () => emulator.stop());
}

/** Resolves the folder, which then holds an assembly that the emulator takes. */
async function synthesize(synth: Cdk['synth'], folder: string): Promise<string> {
  await mkdir(folder);
  await synth(folder);
  const lines = await adaptTemplate(await templateFile(folder));
  for (const line of lines) console.log(`   ${line}`);
  return folder;
}
