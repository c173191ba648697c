import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { projectRoot } from '../../infra/project.ts';
import { notes, startModel } from '../../infra/rehearsal/model.ts';
import { parseSettings } from '../../infra/settings.ts';
import { defineAgent } from '../../lib/agents/define-agent.ts';
import { capturedLog } from '../support/captured-log.ts';
import { request } from '../support/every-route.ts';
import { type LifecycleFunctions, lifecycleFunctions } from '../support/lifecycle-functions.ts';

const notesAgent = '/v1/agents/notes';

describe("the README's action that calls a model", () => {
  const text = readFileSync(join(projectRoot, 'README.md'), 'utf8');
  const [, section = ''] = text.split('### An action that calls a model\n');
  const block = (language: string) =>
    new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(section)?.[1] ?? '';

  test('is the one that is tested and rehearsed, and its settings are settings', () => {
    expect(block('ts')).toBe(readFileSync(join(projectRoot, 'test/e2e/notes-actions.ts'), 'utf8'));
    expect(parseSettings(JSON.parse(`{${block('json').replace(/,\s*$/, '')}}`)).worker).toMatchObject({
      environment: { MODEL_URL: expect.any(String), MODEL: expect.any(String) },
      secrets: { MODEL_KEY: expect.any(String) },
    });
  });

  let functions: LifecycleFunctions;
  beforeEach(async () => {
    capturedLog();
    const actions = () => import('../e2e/notes-actions.ts');
    functions = lifecycleFunctions([defineAgent({ name: 'notes', actions })]);
    await request('PUT', `${notesAgent}/sessions/chat-1`, { body: '{}' });
    const message = { content: 'Where is my parcel?', sender: { id: 'ann' } };
    await request('POST', `${notesAgent}/sessions/chat-1/messages`, { body: JSON.stringify(message) });
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  const takeNotes = async () => {
    const { body } = await request('POST', `${notesAgent}/runs`, { body: '{"action":"take-notes"}' });
    await functions.drain();
    return (await request('GET', `${notesAgent}/runs/${body.runId}/jobs`)).body.items[0];
  };

  test('asks it with the key of the environment, and saves what it says in the agent', async () => {
    const model = await startModel();
    vi.stubEnv('MODEL_URL', model.url);
    vi.stubEnv('MODEL_KEY', 'sk-of-this-machine');
    await request('PUT', `${notesAgent}/instances/chat-1`, { body: '{"mood":"calm"}' });

    expect(await takeNotes()).toMatchObject({ ok: true, result: 2 });

    expect(model.authorizations).toEqual(['Bearer sk-of-this-machine']);
    expect((await request('GET', `${notesAgent}/instances/chat-1`)).body).toEqual({ mood: 'calm', notes });
  });

  test('fails without the key, and says what to set', async () => {
    vi.stubEnv('MODEL_KEY', undefined);

    const { ok, error } = await takeNotes();

    expect(ok).toBe(false);
    expect(error.reason).toMatch(/no secret 'MODEL_KEY': set the variable MODEL_KEY, .* worker\.secrets/);
  });
});
