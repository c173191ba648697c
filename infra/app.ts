import { App } from 'aws-cdk-lib';
import { actionNamesOf, schedulesOf } from './agent-schedules.ts';
import { AgentsFileError, loadAgents } from './agents-file.ts';
import { DormouseStack } from './dormouse-stack.ts';
import { InvalidSettingsError, parseSettings } from './settings.ts';
import { cdkJson } from './stages.ts';

const app = new App();
try {
  const settings = parseSettings(app.node.getAllContext(), cdkJson(process.cwd()));
  const agents = await loadAgents(settings.agents);
  new DormouseStack(app, 'Dormouse', {
    ...settings,
    schedules: schedulesOf(agents.values()),
    actionNames: await actionNamesOf(agents.values()),
  });
} catch (error) {
  if (!(error instanceof InvalidSettingsError || error instanceof AgentsFileError)) throw error;
  console.error(error.message);
  process.exit(1);
}
