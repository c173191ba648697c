import { fileStore } from '../../lib/persistence/file-store.ts';
import { hibernate } from '../../lib/persistence/hibernate.ts';

/** A process of its own that writes through the file store; its parent hears what was acknowledged, or kills it. */
const [directory = '', mode, name, etag] = process.argv.slice(2);
const store = fileStore(directory);

if (mode === 'once') {
  const result = await hibernate({ store }, 'support', 'user-1', name, { ifMatch: etag });
  process.send?.(result.status === 'ok' ? 'ok' : result.error.code);
} else {
  for (let count = 1; ; count++) {
    const result = await hibernate({ store }, 'support', 'user-1', { count, padding: 'x'.repeat(200_000) });
    if (result.status === 'error') throw result.error;
    process.send?.(count);
  }
}
process.disconnect();
