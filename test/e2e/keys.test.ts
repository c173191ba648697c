import { randomBytes } from 'node:crypto';
import { describe, expect } from 'vitest';
import { httpCase } from './case.ts';
import { deployment } from './deployment.ts';

describe('agent names and keys in paths', () => {
  const { agent, call } = deployment();
  const json = { 'content-type': 'application/json' };
  const pathTo = (name: string, key: string) => `/v1/agents/${name}/instances/${encodeURIComponent(key)}`;
  const methods = ['PUT', 'GET', 'HEAD', 'DELETE'];
  const onAllMethods = async (path: string) => {
    const statuses: number[] = [];
    for (const method of methods) {
      const answer = await call(method, path, method === 'PUT' ? { body: '1', headers: json } : {});
      statuses.push(answer.status);
    }
    return statuses;
  };

  httpCase('keys that differ are different instances', async () => {
    const names = [agent, `${agent}2`, `${agent}.a`, `${agent}.a-b`];
    const keys = [
      'A',
      'a',
      'B',
      'A:B',
      'A|B',
      'm!1',
      'a b',
      'a+b',
      'a/b',
      'a/b/c',
      'a~b',
      'é',
      'e\u0301',
      'ä🔑',
      ' x',
      'x ',
      "'",
      '"',
      '$',
      '&',
      '=',
      ',',
      ';',
      '@',
      '(',
      '[',
      '{',
      '^',
      '`',
      '<',
      'x.',
      '.x',
      '..x',
      '...',
      '-',
      '0',
    ];
    const pairs = names.flatMap((name) => keys.map((key) => [name, key] as const));
    for (const [name, key] of pairs) {
      const saved = await call('PUT', pathTo(name, key), {
        body: JSON.stringify([name, key]),
        headers: json,
      });
      expect([saved.status, key]).toEqual([201, key]);
      expect(saved.json()).toMatchObject({ agent: name, key });
    }
    for (const [name, key] of pairs) {
      const read = await call('GET', pathTo(name, key));
      expect(read.json()).toEqual([name, key]);
    }
  });

  httpCase('slashes may be sent as they are, and a plus stays a plus', async () => {
    await call('PUT', `/v1/agents/${agent}/instances/org/user+1`, { body: '"here"', headers: json });

    expect((await call('GET', `/v1/agents/${agent}/instances/org/user+1`)).body.toString()).toBe('"here"');
    expect((await call('GET', `/v1/agents/${agent}/instances/org%2Fuser%2B1`)).body.toString()).toBe(
      '"here"',
    );
    expect((await call('GET', `/v1/agents/${agent}/instances/org/user%201`)).status).toBe(404);
  });

  httpCase('what a path cannot carry is 400 invalid_key on every method', async () => {
    const keys = [
      'a%b',
      '100%',
      '%zz',
      'a?b',
      'a#b',
      'a\\b',
      'a\tb',
      'a\u0085b',
      'a\u007f',
      'a//b',
      '/a',
      'a/',
      'a/./b',
      'a/../b',
    ];
    for (const key of keys) {
      expect([await onAllMethods(pathTo(agent, key)), key]).toEqual([[400, 400, 400, 400], key]);
    }
    const refused = await call('GET', pathTo(agent, 'a%b'));
    expect(refused.json()).toMatchObject({ code: 'invalid_key', status: 400 });
  });

  httpCase('dots and slashes in a path are not resolved away', async () => {
    await call('PUT', `/v1/agents/${agent}/instances/dots`, { body: '1', headers: json });
    for (const path of ['x/../dots', './dots', 'dots/', '/dots', 'x//dots']) {
      expect([(await call('GET', `/v1/agents/${agent}/instances/${path}`)).status, path]).toEqual([
        400,
        path,
      ]);
    }
  });

  httpCase('a line feed in a key is 400 on every method', async () => {
    expect(await onAllMethods(pathTo(agent, 'a\nb'))).toEqual([400, 400, 400, 400]);
  });

  httpCase('a dot segment at the end of a path is not resolved away', async () => {
    for (const key of ['.', '..', 'dots/.', 'dots/..']) {
      expect([await onAllMethods(`/v1/agents/${agent}/instances/${key}`), key]).toEqual([
        [400, 400, 400, 400],
        key,
      ]);
    }
  });

  httpCase('a key of 512 bytes works, one of 513 is 400 on every method', async () => {
    expect(await onAllMethods(pathTo(agent, 'x'.repeat(512)))).toEqual([201, 200, 200, 204]);
    expect(await onAllMethods(pathTo(agent, '界'.repeat(170)))).toEqual([201, 200, 200, 204]);
    expect(await onAllMethods(pathTo(agent, 'x'.repeat(513)))).toEqual([400, 400, 400, 400]);
    expect(await onAllMethods(pathTo(agent, '界'.repeat(171)))).toEqual([400, 400, 400, 400]);
  });

  httpCase('an agent name is 1 to 128 of the allowed characters, or 400', async () => {
    const longest = `a${randomBytes(4).toString('hex')}${'x'.repeat(119)}`;
    expect(await onAllMethods(pathTo(longest, 'k'))).toEqual([201, 200, 200, 204]);
    for (const name of [`${longest}x`, '-a', '.a', '_a', 'a%20b', 'a%23b', 'a~b', '%C3%A9', 'a+b']) {
      expect([await onAllMethods(pathTo(name, 'k')), name]).toEqual([[400, 400, 400, 400], name]);
    }
  });

  httpCase('an instance without a key, or an agent without a name, is refused', async () => {
    expect((await call('GET', `/v1/agents/${agent}/instances/`)).status).toBe(400);
    expect((await call('PUT', `/v1/agents/${agent}/instances/`, { body: '1', headers: json })).status).toBe(
      400,
    );
    expect([400, 404]).toContain((await call('GET', '/v1/agents//instances/x')).status);
    expect((await call('GET', `//v1//agents/${agent}/instances/x`)).status).toBe(404);
  });

  httpCase('a malformed escape is 400', async () => {
    expect((await call('GET', `/v1/agents/${agent}/instances/%zz`)).status).toBe(400);
  });
});
