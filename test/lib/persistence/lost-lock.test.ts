import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LockOptions } from 'proper-lockfile';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileStore } from '../../../lib/persistence/file-store.ts';
import { forget } from '../../../lib/persistence/forget.ts';
import { hibernate } from '../../../lib/persistence/hibernate.ts';
import { thaw } from '../../../lib/persistence/thaw.ts';

describe('a file store whose lock was lost', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'dormouse-lost-lock-'));
  });
  afterEach(async () => {
    await rm(directory, { recursive: true, force: true });
  });

  test('writes and deletes nothing, which may be over what the next holder wrote', async () => {
    await hibernate({ store: fileStore(directory) }, 'support', 'user-1', 'theirs');
    let released = 0;
    // A lock is lost when another process takes its holder for dead: here at once, where it takes ten seconds else.
    const lockFile = async (_file: string, options: LockOptions = {}) => {
      options.onCompromised?.(new Error('somebody else has it'));
      return async () => {
        released++;
      };
    };
    const store = fileStore(directory, { lockFile });

    const lost = { status: 'error', error: { code: 'unavailable' } };
    expect(await hibernate({ store }, 'support', 'user-1', 'mine')).toMatchObject(lost);
    expect(await forget({ store }, 'support', 'user-1')).toMatchObject(lost);

    expect(await thaw({ store }, 'support', 'user-1')).toMatchObject({ agent: 'theirs', version: 1 });
    expect(released).toBe(0);
  });
});
