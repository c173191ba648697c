import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { runSessionJob } from '../../../lib/lifecycle/run-session-job.ts';
import { checkedLookup, reachOf } from '../../../lib/webhooks/addresses.ts';
import { webhook } from '../../../lib/webhooks/webhook.ts';
import {
  everywhere,
  jobOf,
  json,
  nowhere,
  reasonOf,
  resolving,
  runtime,
  session,
} from '../../support/sent-webhook.ts';
import { signingSecret, webhookReceiver } from '../../support/webhook-receiver.ts';

describe('the address of a webhook', () => {
  test.each([
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['192.168.1.1', 'private'],
    ['100.100.100.200', 'carrierGradeNat'],
    ['fd00:ec2::254', 'uniqueLocal'],
    ['::ffff:10.0.0.1', 'private'],
    ['169.254.169.254', 'linkLocal'],
    ['::ffff:169.254.169.254', 'linkLocal'],
    ['fe80::1', 'linkLocal'],
    ['127.0.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['192.0.2.1', 'reserved'],
    ['64:ff9b::a00:1', 'rfc6052'],
    ['2002:a00:1::', '6to4'],
    ['::a00:1', 'unicast'],
    ['4000::1', 'unicast'],
  ])('is refused where it is %s (%s), looked up or in the URL', async (address, range) => {
    const lookup = resolving('93.184.215.14', address);
    const literal = address.includes(':') ? `[${address}]` : address;
    const refused = new RegExp(`could not be reached: its address is not public \\(${range}\\)`);

    expect(await reasonOf({ url: 'https://hooks.example.com/', reach: nowhere, lookup })).toMatch(refused);
    expect(await reasonOf({ url: `https://${literal}/`, reach: nowhere, lookup })).toMatch(refused);
    expect(lookup).toHaveBeenCalledTimes(1);
  });

  test('may be private where the setting allows it, but not of the machine, nor of its metadata', async () => {
    const reach = { loopback: false, privateAddresses: true };
    const url = new URL('https://hooks.example.com/');
    const found = (address: string) =>
      promisify(checkedLookup(url, reach, resolving(address)))('hooks.example.com', {});

    for (const address of ['10.1.2.3', '100.64.0.1', 'fd00::1', '93.184.215.14'])
      expect(await found(address)).toBe(address);
    for (const address of [
      '127.0.0.1',
      '::1',
      '169.254.169.254',
      '169.254.170.2',
      'fe80::1',
      'fd00:ec2::254',
    ])
      await expect(found(address)).rejects.toThrow(/not public/);
  });

  test('that is private is refused with the setting that would allow it', async () => {
    const lookup = resolving('10.0.0.1');

    expect(await reasonOf({ url: 'https://hooks.example.com/', reach: nowhere, lookup })).toMatch(
      /worker\.allowPrivateAddresses allows/,
    );
  });

  test('is the one that was judged: the name is looked up once, whatever it resolves to next', async () => {
    const { port, received } = await webhookReceiver(json('here'));
    const lookup = vi.fn(resolving('169.254.169.254')).mockImplementationOnce(resolving('127.0.0.1'));

    const job = await jobOf({ url: `http://hooks.example.com:${port}/`, reach: everywhere, lookup });

    expect(job?.result).toBe('here');
    expect(lookup).toHaveBeenCalledTimes(1);
    expect(received[0]?.headers.host).toBe(`hooks.example.com:${port}`);
  });

  test('is refused where it cannot be read', async () => {
    const lookup = resolving('not an address');

    expect(await reasonOf({ url: 'https://hooks.example.com/', lookup })).toMatch(/cannot be read$/);
  });

  test('is not connected to where it is refused', async () => {
    const { port, received } = await webhookReceiver(json(1));
    const lookup = resolving('127.0.0.1');

    for (const url of [
      `http://localhost:${port}/`,
      `http://127.0.0.1:${port}/`,
      `https://a.example:${port}/`,
    ])
      expect(await reasonOf({ url, reach: nowhere, lookup })).toMatch(/http is for|not public \(loopback\)/);

    expect(received).toEqual([]);
  });

  test('is no other than of this machine over http', async () => {
    const reach = { loopback: true, privateAddresses: true };
    const lookup = resolving('93.184.215.14');

    expect(await reasonOf({ url: 'http://localhost/', reach, lookup })).toMatch(
      /http is for a server on your own/,
    );
  });

  test('is judged again for each request: no connection is used twice', async () => {
    const { port, received } = await webhookReceiver(json(1));
    const lookup = vi.fn(resolving('169.254.169.254')).mockImplementationOnce(resolving('127.0.0.1'));
    const url = `http://hooks.example.com:${port}/`;

    expect(await jobOf({ url, reach: everywhere, lookup })).toMatchObject({ ok: true });
    expect(await jobOf({ url, reach: everywhere, lookup })).toMatchObject({ ok: false });

    expect(received).toHaveLength(1);
  });

  test('is spoken to with TLS where the URL says https', async () => {
    const { port, received } = await webhookReceiver(json(1));

    expect(await reasonOf({ url: `https://127.0.0.1:${port}/`, reach: everywhere })).toMatch(
      /could not be reached: .*(SSL|EPROTO)/,
    );
    expect(received).toEqual([]);
  });

  test.each([
    [{}, true, false],
    [{ DORMOUSE_ALLOW_PRIVATE_ADDRESSES: 'true' }, true, true],
    [{ DORMOUSE_ALLOW_PRIVATE_ADDRESSES: 'false' }, true, false],
    [{ AWS_LAMBDA_FUNCTION_NAME: 'work' }, false, false],
    [{ AWS_LAMBDA_FUNCTION_NAME: 'work', DORMOUSE_ALLOW_PRIVATE_ADDRESSES: 'true' }, false, true],
  ])('may be what the environment %j allows', (env, loopback, privateAddresses) => {
    expect(reachOf(env)).toEqual({ loopback, privateAddresses });
  });

  test('may be of this machine but for in Lambda, where the runtime listens', async () => {
    const { url, received } = await webhookReceiver(json(1));
    const visit = async () =>
      (
        await runSessionJob(runtime, 'digest', webhook({ url, secret: signingSecret }), {
          sessions: [session],
        })
      )[0];

    expect(await visit()).toMatchObject({ ok: true });
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'work');
    const inLambda = await visit();
    vi.unstubAllEnvs();

    expect(inLambda?.error?.reason).toMatch(/http is for a server on your own machine only/);
    expect(received).toHaveLength(1);
  });
});
