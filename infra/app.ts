import { App } from 'aws-cdk-lib';
import { DormouseStack } from './dormouse-stack.ts';
import { InvalidSettingsError, parseSettings } from './settings.ts';

const app = new App();
try {
  new DormouseStack(app, 'Dormouse', parseSettings(app.node.getAllContext()));
} catch (error) {
  if (!(error instanceof InvalidSettingsError)) throw error;
  console.error(error.message);
  process.exit(1);
}
