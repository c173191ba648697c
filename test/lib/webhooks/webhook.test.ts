import { describe, expect, test } from 'vitest';
import { InvalidDefinitionError } from '../../../lib/agents/invalid-definition-error.ts';
import { webhook } from '../../../lib/webhooks/webhook.ts';
import { signingSecret } from '../../support/webhook-receiver.ts';

const url = 'https://agents.example.com/digest?tenant=1';
const secretOf = (bytes: number) => `whsec_${Buffer.alloc(bytes, 9).toString('base64')}`;

describe('a webhook', () => {
  test.each([
    [url, 'DIGEST_SECRET'],
    [url, signingSecret],
    [url, secretOf(64)],
    ['http://localhost:8000/digest', 'S'],
    ['http://127.0.0.1/', 'S'],
    ['http://[::1]:8000', 'S'],
  ])('may be %s, signed with %s', (given, secret) => {
    expect(webhook({ url: given, secret })).toBeTypeOf('function');
  });

  const https = 'url must be an https URL';
  const either = `${https}, or on your own machine http to localhost, 127.0.0.1 or [::1]`;
  const name = 'the name of a secret (setting worker.secrets), or whsec_… itself';
  const base64 = 'secret must be whsec_ and the base64 of 24 to 64 bytes';
  test.each<[unknown, string]>([
    [undefined, 'must be given { url, secret }'],
    [url, 'must be given { url, secret }'],
    [{ secret: 'S' }, 'url is missing'],
    [{ url: '', secret: 'S' }, 'url is missing'],
    [{ url: 7, secret: 'S' }, https],
    [{ url: 'agents.example.com', secret: 'S' }, https],
    [{ url: 'http://agents.example.com/', secret: 'S' }, either],
    [{ url: 'http://localhost.example.com/', secret: 'S' }, either],
    [{ url: 'http://127.0.0.1.example.com/', secret: 'S' }, either],
    [{ url: 'ftp://localhost/', secret: 'S' }, either],
    [
      { url: 'https://ann:pass@agents.example.com/', secret: 'S' },
      'url must be without user name and password',
    ],
    [{ url }, `secret is missing: ${name}`],
    [{ url, secret: '' }, `secret is missing: ${name}`],
    [{ url, secret: 7 }, `secret must be ${name}`],
    [{ url, secret: 'prod/digest' }, `secret must be ${name}`],
    [{ url, secret: 'whsec_' }, base64],
    [{ url, secret: 'whsec_not base64' }, base64],
    [{ url, secret: secretOf(23) }, base64],
    [{ url, secret: secretOf(65) }, base64],
    [{ url, secert: 'S' }, "there is no field 'secert'; did you mean 'secret'?"],
    [{ url, secret: 'S', method: 'PUT' }, "there is no field 'method'; there are: url, secret"],
  ])('is refused when it is defined as %j', (options, problem) => {
    const define = () => webhook(options as Parameters<typeof webhook>[0]);

    expect(define).toThrow(InvalidDefinitionError);
    expect(define).toThrow(expect.objectContaining({ message: `webhook: ${problem}` }));
  });

  test('has options that the compiler checks', () => {
    // @ts-expect-error misspelled
    expect(() => webhook({ url, secert: 'S' })).toThrow();
    // @ts-expect-error missing
    expect(() => webhook({ url })).toThrow();
  });

  test('that is refused is not quoted: a URL may have a token in it, and a secret is one', () => {
    for (const options of [
      { url: 'http://example.com/T0KEN', secret: 'S' },
      { url, secret: 'whsec_T0KEN' },
      { url, secret: 'T0KEN+' },
    ])
      expect(() => webhook(options)).toThrow(/^(?!.*T0KEN)/s);
  });
});
