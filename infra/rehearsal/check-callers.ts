import { apiRequest } from './api-request.ts';
import { type AwsCalls, administrator, type Credentials } from './aws-calls.ts';
import { createCaller } from './callers.ts';
import type { Report } from './report.ts';
import { type DeployedStack, output } from './template.ts';

/**
 * Who gets in and who does not, decided by IAM. Resolves the credentials of an ordinary caller for the suite: the
 * emulator verifies the signatures of users, and takes its administrator at his word.
 */
export async function checkCallers(
  report: Report,
  aws: AwsCalls,
  endpoint: string,
  stack: DeployedStack,
): Promise<Credentials> {
  const { host } = new URL(output(stack, 'ApiUrl'));
  const apiArn = output(stack, 'ApiArn');
  const anyone = await createCaller(aws, 'caller', [apiArn]);
  const support = `${apiArn.slice(0, apiArn.indexOf('/$default'))}/$default/*/v1/agents/support/*`;
  const ofSupport = await createCaller(aws, 'support-only', [support]);
  const stranger = await createCaller(aws, 'stranger', []);

  const expectStatus = async (who: string, path: string, expected: number, credentials?: Credentials) => {
    const { status } = await apiRequest({ endpoint, host, credentials }, { path });
    report.check(`${who}: GET ${path} is ${expected}`, status === expected, `it was ${status}`);
  };
  await expectStatus('without a signature', '/v1/agents', 403);
  await expectStatus('a user without a policy', '/v1/agents', 403, stranger);
  await expectStatus('a wrong secret', '/v1/agents', 403, { ...anyone, secretAccessKey: 'wrong' });
  await expectStatus('a user with a policy', '/v1/agents', 200, anyone);
  await expectStatus('the administrator', '/v1/agents', 200, administrator);
  await expectStatus('a user for one agent', '/v1/agents/support/instances', 200, ofSupport);
  await expectStatus('a user for one agent', '/v1/agents/billing/instances', 403, ofSupport);
  await expectStatus('a user for one agent', '/v1/agents', 403, ofSupport);
  return anyone;
}
