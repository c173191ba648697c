import { startLocalServer } from '../local/server.ts';
import { DemoClient } from './demo-client.ts';
import { showHibernation, sleepless } from './hibernation.ts';
import { desk, showLifecycle } from './lifecycle.ts';

const server = await startLocalServer({ port: 0, agents: [sleepless, desk], quiet: true });
try {
  console.log('Dormouse runs in this process, in memory: real handlers, real storage format, no AWS.\n');
  const client = new DemoClient(server.url);
  await showHibernation(client, server.dynamoDb);
  await showLifecycle(client);
  console.log('\nAll of it held. The next step: npm start, and the curl lines of the README.');
} finally {
  await server.close();
}
