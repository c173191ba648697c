import { test } from 'vitest';
import { emulatorLimits } from './emulator-limits.ts';
import { targetFromEnvironment } from './http-client.ts';

/** A test of the black-box suite; skipped, with the reason in its title, where the emulator is known not to be able to. */
export function httpCase(title: string, body: () => Promise<void>, timeoutMs?: number): void {
  const limit = targetFromEnvironment() && emulatorLimits[title];
  if (limit) test.skip(`${title} (the emulator: ${limit})`, body);
  else test(title, body, timeoutMs);
}
