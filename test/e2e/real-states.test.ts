import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sha256 } from '../support/random-bytes.ts';
import { describeWithShared, sharedPath } from '../support/shared-data.ts';
import { emulatorLimit } from './case.ts';
import { deployment } from './deployment.ts';

describeWithShared('states', 'the 64 real agent states', () => {
  const { put, get } = deployment();
  const directory = sharedPath('states');
  const files = existsSync(directory) ? readdirSync(directory) : [];

  test('are all there', () => {
    expect(files).toHaveLength(64);
  });

  test.each(files)('%s comes back byte for byte, plain and compressed', async (file) => {
    const state = readFileSync(`${directory}/${file}`);

    const saved = await put(file, state);
    expect(saved.status).toBe(201);
    expect(saved.json()).toMatchObject({ key: file, version: 1, bytes: state.length });

    const plain = await get(file);
    expect(plain.status).toBe(200);
    expect(plain.headers['content-type']).toBe('application/json');
    expect(plain.headers.etag).toBe(saved.headers.etag);
    expect(sha256(plain.body)).toBe(sha256(state));

    const compressed = await get(file, { 'accept-encoding': 'gzip' });
    const body =
      compressed.headers['content-encoding'] === 'gzip' ? gunzipSync(compressed.body) : compressed.body;
    expect(sha256(body)).toBe(sha256(state));
    expect(compressed.headers.etag).toBe(saved.headers.etag);
  });

  const limit = emulatorLimit('a gzip body of JSON is kept as what it holds');
  const some = files.filter((_file, index) => index % 8 === 0);
  test.skipIf(limit).each(some)('%s may be sent compressed', async (file) => {
    const state = readFileSync(`${directory}/${file}`);
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };

    expect((await put(`${file}/sent-compressed`, gzipSync(state), headers)).status).toBe(201);
    expect(sha256((await get(`${file}/sent-compressed`)).body)).toBe(sha256(state));
  });
});
